import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import {
  CreateError,
  DnsUnavailable,
  type MachineError,
  NodeClassError,
  Unauthorized,
} from '../../errors.ts';
import { failureOf } from '../../testing/ec2.ts';
import { Rfc2136Dns } from './rfc2136-dns.ts';
import { afterCollecting, type Place, remove, stories, upsert } from './testing/stories.ts';
import { FakeUpdateServer } from './testing/update-server.ts';
import type { TsigKey } from './tsig.ts';

const signal = new AbortController().signal;
const zone = 'machines.example.com';
const name = `api.web-1.${zone}`;
const key: TsigKey = {
  name: 'kpu',
  algorithm: 'hmac-sha256',
  secret: Buffer.from('it is a secret to everybody'),
};
let server: FakeUpdateServer;
let clock: FakeClock;
let place: Place;

function dnsWith(given: TsigKey, realNow: () => number = Date.now): Rfc2136Dns {
  const address = { server: '127.0.0.1', port: server.port };
  return new Rfc2136Dns({ address, key: async () => given, clock, realNow });
}

beforeEach(async () => {
  server = await FakeUpdateServer.start(zone, key);
  clock = new FakeClock();
  place = {
    dns: dnsWith(key),
    other: dnsWith(key),
    clock,
    zone,
    put: async (...record) => server.put(...record),
    delete: async (...record) => server.delete(...record),
    contents: async () => server.contents.toSorted(),
  };
});
afterEach(() => server.stop());

describe('a server as the RFC has it', () => {
  test.each(Object.entries(stories))('%s', async (_title, tell) => {
    expect.hasAssertions();
    await tell(place);
  });
});

describe('between reading and writing', () => {
  test.each([
    ['somebody takes the name', () => server.put(name, 'A', '192.0.2.1')],
    ['somebody leads the name elsewhere', () => server.put(name, 'CNAME', 'elsewhere.example.com')],
    ['somebody takes the ownership', () => server.put(`_kpu.${name}`, 'TXT', '"not yours"')],
  ])('%s: nothing is written, and it is told at the next look', async (_what, happens) => {
    server.beforeUpdate = happens;
    await expect(failureOf(upsert(place, 'web-1', '10.0.0.7'))).resolves.toBeInstanceOf(
      DnsUnavailable,
    );
    expect(server.contents).toHaveLength(1);
    await expect(failureOf(upsert(place, 'web-1', '10.0.0.7'))).resolves.toMatchObject({
      reason: 'DNSConflict',
    });
  });

  test.each([
    ['the value', () => server.put(name, 'A', '192.0.2.1')],
    ['the ownership', () => server.put(`_kpu.${name}`, 'TXT', '"not yours"')],
  ])('%s of ours becomes another: it is neither changed nor removed', async (_what, happens) => {
    await upsert(place, 'web-1', '10.0.0.7');
    for (const act of [
      async () => upsert(place, 'web-1', '10.0.0.8'),
      async () => remove(place, 'web-1'),
    ]) {
      server.put(name, 'A', '10.0.0.7');
      server.put(
        `_kpu.${name}`,
        'TXT',
        '"heritage=karpenter-unikraft,owner=cluster,nodeclaim=web-1"',
      );
      server.beforeUpdate = happens;
      // oxlint-disable-next-line no-await-in-loop -- each on the zone as the one before left it
      await expect(failureOf(act())).resolves.toBeInstanceOf(DnsUnavailable);
      expect(server.contents).toHaveLength(2);
    }
    expect(server.updates).toHaveLength(1);
  });

  test('a refusal of many together costs only the one at fault its record', async () => {
    server.beforeUpdate = () => server.put(name, 'A', '192.0.2.1');
    const orders = ['web-1', 'web-2', 'web-3'].map(async (node) =>
      place.dns.upsert(
        zone,
        [{ name: `api.${node}.${zone}`, address: '10.0.0.7', ttl: 60 }],
        { clusterUid: 'cluster', claimUid: node },
        signal,
      ),
    );
    const results = await afterCollecting(clock, Promise.allSettled(orders));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(server.contents).toHaveLength(5);
  });
});

describe('what a server says', () => {
  const table: [status: string, kind: abstract new (...args: never[]) => MachineError][] = [
    ['REFUSED', Unauthorized],
    ['BADSIG', Unauthorized],
    ['BADKEY', Unauthorized],
    ['BADTIME', Unauthorized],
    ['BADTRUNC', Unauthorized],
    ['unsigned', Unauthorized],
    ['NOTAUTH', NodeClassError],
    ['NOTZONE', CreateError],
    ['NOTIMP', CreateError],
    ['FORMERR', CreateError],
    ['SERVFAIL', DnsUnavailable],
    ['YXDOMAIN', DnsUnavailable],
    ['YXRRSET', DnsUnavailable],
    ['NXRRSET', DnsUnavailable],
    ['hang-up', DnsUnavailable],
  ];

  test.each(table)('%s is told as what it means for a machine', async (status, kind) => {
    server.faults.push(status);
    const error = await failureOf(upsert(place, 'web-1', '10.0.0.7'));
    expect(error).toBeInstanceOf(kind);
    expect(error.message).toContain(`zone ${zone} at 127.0.0.1:${server.port}`);
    expect(server.contents).toEqual([]);

    await upsert(place, 'web-1', '10.0.0.7');
    expect(server.contents).toHaveLength(2);
  });

  test.each(['REFUSED', 'BADKEY', 'NOTIMP', 'unsigned'])(
    '%s to the first look makes the node class unready',
    async (status) => {
      server.faults.push(status);
      const error = await failureOf(place.dns.resolveZone(zone, undefined, signal));
      expect(error).toBeInstanceOf(NodeClassError);
      expect(error).toMatchObject({ condition: 'DNSReady' });
    },
  );

  test('silence ends after ten seconds', async () => {
    server.faults.push('silence');
    const order = upsert(place, 'web-1', '10.0.0.7');
    order.catch(() => {}); // looked at below
    while (server.connections === 0) {
      // oxlint-disable-next-line no-await-in-loop -- the connection is made in real time
      await new Promise((resolve) => setImmediate(resolve));
    }
    await clock.forward(seconds(10));
    await expect(failureOf(order)).resolves.toMatchObject({ reason: 'DNSUnavailable' });
  });
});

describe('a key', () => {
  const secret = Buffer.from('another secret');
  const hour = 3_600_000;
  test.each([
    ['with another secret', () => dnsWith({ ...key, secret }), 'BADSIG'],
    ['with another name', () => dnsWith({ ...key, name: 'kpu-2' }), 'BADSIG'],
    ['with another algorithm', () => dnsWith({ ...key, algorithm: 'hmac-sha512' }), 'BADSIG'],
    ['of another hour', () => dnsWith(key, () => Date.now() - hour), 'BADTIME'],
  ])('%s is not taken, and nothing is written', async (_what, make, status) => {
    const error = await failureOf(make().resolveZone(zone, undefined, signal));
    expect(error).toMatchObject({ code: 'KPU241', canPass: true });
    expect(error.message).toContain(status);
  });

  test('that was replaced is used from the next look on', async () => {
    let given: TsigKey = { ...key, secret };
    const address = { server: '127.0.0.1', port: server.port };
    const dns = new Rfc2136Dns({ address, key: async () => given, clock });
    await expect(failureOf(dns.resolveZone(zone, undefined, signal))).resolves.toMatchObject({
      code: 'KPU241',
    });
    given = key;
    await expect(dns.resolveZone(zone, undefined, signal)).resolves.toBe(zone);
  });
});

test('forty machines cost two connections: one to read, one to write', async () => {
  const orders = Array.from({ length: 40 }, async (_, index) =>
    place.dns.upsert(
      zone,
      [{ name: `api.web-${index}.${zone}`, address: '10.0.0.7', ttl: 60 }],
      { clusterUid: 'cluster', claimUid: `web-${index}` },
      signal,
    ),
  );
  await afterCollecting(clock, Promise.all(orders));
  expect(server.connections).toBe(2);
  expect(server.updates).toEqual([80]);
});
