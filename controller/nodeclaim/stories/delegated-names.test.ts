import { beforeEach, expect, test } from 'vitest';

import { dnsEndpoints } from '#machine/dns/externaldns/endpoint.ts';
import { DnsUnavailable } from '#machine/errors.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks } from '../../testing/claim-world.ts';
import { ofMachines, type FakeExternalDns } from '../../testing/fake-external-dns.ts';

let world: ClaimWorld;
let external: FakeExternalDns;
beforeEach(async () => {
  world = await ClaimWorld.make();
  external = world.delegateDns();
});

const told = (reason: string): string | undefined =>
  world.notes.find((note) => note.reason === reason)?.message;
const instances = () => world.cloud.alive.length;

test('names that external-dns writes are waited for, and its DNSEndpoint goes with the machine', async () => {
  await world.claim();
  await world.initialized();
  expect(ofMachines(world.client).map(({ metadata }) => metadata.name)).toEqual(['web-1']);
  expect(world.dns.records.size).toBe(2);
  await world.delete();
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('an external-dns that does not see them is told of, and waited for', async () => {
  external.isAway = true;
  await world.claim();
  await world.until(() => world.condition('DNSReady')?.reason === 'NamesDoNotResolve');
  const message = told('NamesDoNotResolve');
  expect(message).toMatch(/^api\.\S+ resolves to nothing, and not to \d+\S+, index\./);
  expect(message).toMatch(/; external-dns has not read DNSEndpoint \S+\/web-1: .* \(KPU374\)$/);
  external.isAway = false;
  await world.initialized();
  expect(world.cloud.made).toHaveLength(1);
});

test('servers that remember that a name was not there are told of with it', async () => {
  external.isAway = true;
  world.dns.remembered = seconds(860);
  await world.claim();
  await world.until(() => told('NamesDoNotResolve') !== undefined);
  expect(told('NamesDoNotResolve')).toMatch(
    /; servers that were asked may remember for 15 min that it was not there; external-dns /,
  );
});

test('a DNSEndpoint that somebody removed while it is waited for is made again', async () => {
  external.isAway = true;
  await world.claim();
  await world.until(() => ofMachines(world.client).length === 1);
  const key = { namespace: world.namespace, name: 'web-1' };
  world.client.remove(dnsEndpoints, key);
  external.isAway = false;
  await world.initialized();
  expect(ofMachines(world.client)).toHaveLength(1);
});

test('a name that is somebody else’s is left alone, and where it leads is told', async () => {
  external.isAway = true;
  await world.claim();
  await world.until(() => ofMachines(world.client).length === 1);
  const [endpoint] = world.client.all(dnsEndpoints);
  const { dnsName } = endpoint!.spec.endpoints[0]!;
  world.dns.records.set(dnsName, { address: '192.0.2.1', owner: 'somebody' });
  external.isAway = false;
  await world.until(() => told('NamesDoNotResolve') !== undefined);
  expect(told('NamesDoNotResolve')).toMatch(
    /^api\.\S+ resolves to 192\.0\.2\.1, and not to \S+; external-dns has read /,
  );
  await world.delete();
  await world.gone();
  expect([...world.dns.records.values()]).toEqual([{ address: '192.0.2.1', owner: 'somebody' }]);
});

test('the machine is kept until its names lead there no more: its address may be another’s next', async () => {
  await world.claim();
  await world.initialized();
  external.isAway = true;
  await world.delete();
  await world.until(() => world.condition('DNSReady')?.reason === 'RemovalAsked');
  for (let looks = 0; looks < 10; looks++) {
    await world.look();
    await world.clock.forward(seconds(10));
  }
  expect(instances()).toBe(1);
  expect(ofMachines(world.client)).toEqual([]);
  external.isAway = false;
  await world.gone();
  expect(told('RecordsLeft')).toBeUndefined();
  expect(world.leaks()).toEqual(noLeaks);
});

test.each([
  ['removes nothing', () => (external.removesNothing = true)],
  ['is gone', () => (external.isAway = true)],
])(
  'an external-dns that %s keeps no machine for ever, and what is left is told',
  async (_, bad) => {
    await world.claim();
    await world.initialized();
    bad();
    const began = world.clock.now();
    await world.delete();
    await world.gone();
    expect(world.clock.now() - began).toBeGreaterThan(minutes(3));
    expect(world.clock.now() - began).toBeLessThan(minutes(5));
    expect(told('RecordsLeft')).toMatch(
      /^api\.\S+, index\.\S+ still lead to the machine.* \(KPU375\)$/,
    );
    expect(world.leaks()).toEqual({ ...noLeaks, records: 2 });
  },
);

test('servers that do not answer prove nothing, and keep no machine for ever', async () => {
  await world.claim();
  await world.initialized();
  world.dns.lookupFailure = new DnsUnavailable('no answer');
  await world.delete();
  await world.until(() => world.condition('DNSReady')?.reason === 'RemovalAsked');
  await world.look();
  expect(instances()).toBe(1);
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a machine whose instance is gone is not waited for: its address is another’s already', async () => {
  await world.claim();
  await world.initialized();
  external.isAway = true;
  world.cloud.made.forEach((one) => world.cloud.kill(one));
  const began = world.clock.now();
  await world.delete();
  await world.gone();
  expect(world.clock.now() - began).toBeLessThan(minutes(1));
  expect(ofMachines(world.client)).toEqual([]);
});
