import {
  ChangeResourceRecordSetsCommand,
  GetChangeCommand,
  GetHostedZoneCommand,
  ListHostedZonesByNameCommand,
  ListResourceRecordSetsCommand,
  Route53Client,
  type Change,
  type ChangeInfo,
} from '@aws-sdk/client-route-53';
import { test as base, expect } from 'vitest';

import { Route53Dns } from '#machine/dns/route53/route53-dns.ts';
import { milliseconds, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { fault } from '../wire/faults.ts';
import { Route53 } from './route53.ts';

class World {
  readonly clock = new FakeClock();
  readonly route53 = new Route53({ clock: this.clock, timings: { propagation: seconds(3) } });
  readonly zone = this.route53.zones.create('machines.sandbox.test');
  sdk!: Route53Client;

  async change(...Changes: Change[]): Promise<ChangeInfo> {
    const command = { HostedZoneId: this.zone.id, ChangeBatch: { Changes } };
    return (await this.sdk.send(new ChangeResourceRecordSetsCommand(command))).ChangeInfo!;
  }

  /** `name type value` of what stands in the zone beside SOA and NS. */
  get records(): string[] {
    return [...this.zone.records.values()]
      .filter(({ type }) => type !== 'SOA' && type !== 'NS')
      .map(({ name, type, values }) => `${name} ${type} ${values.join()}`);
  }
}

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => {
    const world = new World();
    await world.route53.start();
    world.sdk = new Route53Client({
      region: 'eu-central-1',
      endpoint: world.route53.url,
      credentials: { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' },
      maxAttempts: 1,
    });
    await use(world);
    world.sdk.destroy();
    await world.route53.stop();
  },
});

const record = (
  Action: Change['Action'],
  Name: string,
  value: string,
  Type: 'A' | 'TXT' | 'CNAME' = 'A',
): Change => ({
  Action,
  ResourceRecordSet: { Name, Type, TTL: 60, ResourceRecords: [{ Value: value }] },
});
const api = 'api.web.machines.sandbox.test';

test('a zone is found by name and by id', async ({ world }) => {
  world.route53.zones.create('apps.sandbox.test');
  const byName = new ListHostedZonesByNameCommand({
    DNSName: 'machines.sandbox.test',
    MaxItems: 1,
  });
  const { HostedZones } = await world.sdk.send(byName);
  expect(HostedZones).toMatchObject([
    { Id: `/hostedzone/${world.zone.id}`, Name: 'machines.sandbox.test.' },
  ]);
  const { HostedZone } = await world.sdk.send(
    new GetHostedZoneCommand({ Id: HostedZones![0]!.Id }),
  );
  expect(HostedZone!.ResourceRecordSetCount).toBe(2);
  const wrong = new GetHostedZoneCommand({ Id: 'Z404' });
  await expect(world.sdk.send(wrong)).rejects.toMatchObject({ name: 'NoSuchHostedZone' });
});

test('a batch is one change that spreads after a while', async ({ world }) => {
  const owner = '"heritage=karpenter-unikraft,owner=<a&b>"';
  const info = await world.change(
    record('CREATE', `*.${api}`, '127.64.0.9'),
    record('UPSERT', `TXT.${api}.`, owner, 'TXT'),
  );
  expect(info.Status).toBe('PENDING');
  expect(world.records).toEqual([
    String.raw`\052.${api}. A 127.64.0.9`,
    `txt.${api}. TXT ${owner}`,
  ]);
  expect(world.zone.published.size).toBe(2); // DNS has only SOA and NS

  await world.clock.forward(seconds(3));
  const { ChangeInfo: later } = await world.sdk.send(new GetChangeCommand({ Id: info.Id }));
  expect(later!.Status).toBe('INSYNC');
  expect(world.zone.published.size).toBe(4);
});

test('one change that does not fit undoes the whole batch, and each says why', async ({
  world,
}) => {
  await world.change(record('CREATE', api, '127.64.0.1'));
  const batch = world.change(
    record('CREATE', `new.${api}`, '127.64.0.2'),
    record('CREATE', api, '127.64.0.3'),
    record('DELETE', `absent.${api}`, '127.64.0.3'),
  );
  await expect(batch).rejects.toMatchObject({
    name: 'InvalidChangeBatch',
    message: expect.stringMatching(/^\[.* but it already exists, .* but it was not found\]$/),
  });
  expect(world.records).toEqual([`${api}. A 127.64.0.1`]);
});

test('a delete must repeat what is there', async ({ world }) => {
  await world.change(record('CREATE', api, '127.64.0.1'));
  await expect(world.change(record('DELETE', api, '127.64.0.2'))).rejects.toMatchObject({
    name: 'InvalidChangeBatch',
    message: expect.stringContaining('do not match the current values'),
  });
  await world.change(record('DELETE', api, '127.64.0.1'), record('CREATE', api, '127.64.0.2'));
  expect(world.records).toEqual([`${api}. A 127.64.0.2`]);
});

test.for<[string, Change]>([
  ['is not permitted in zone', record('CREATE', 'api.example.com', '127.0.0.1')],
  ['ARRDATAIllegalIPv4Address', record('UPSERT', api, '::1')],
  ['InvalidCharacterString', record('UPSERT', api, 'bare', 'TXT')],
  ['conflicts with other records', record('CREATE', 'a.machines.sandbox.test', 'b.', 'CNAME')],
])('a record that %s is refused', async ([reason, change], { world }) => {
  await world.change(record('CREATE', 'a.machines.sandbox.test', '127.64.0.1'));
  await expect(world.change(change)).rejects.toMatchObject({
    name: 'InvalidChangeBatch',
    message: expect.stringContaining(reason),
  });
});

test('records are listed from a name on, ordered by labels from the right', async ({ world }) => {
  await world.change(
    record('CREATE', 'b.machines.sandbox.test', '127.64.0.2'),
    record('CREATE', 'api.a.machines.sandbox.test', '127.64.0.1'),
    record('CREATE', 'a.machines.sandbox.test', '127.64.0.1'),
  );
  const from = { HostedZoneId: world.zone.id, StartRecordName: 'a.machines.sandbox.test' };
  const page = await world.sdk.send(new ListResourceRecordSetsCommand({ ...from, MaxItems: 2 }));
  expect(page.ResourceRecordSets!.map(({ Name }) => Name)).toEqual([
    'a.machines.sandbox.test.',
    'api.a.machines.sandbox.test.',
  ]);
  expect(page).toMatchObject({ IsTruncated: true, NextRecordName: 'b.machines.sandbox.test.' });
});

test('a zone that is busy says so, once', async ({ world }) => {
  const busy = { code: 'PriorRequestNotComplete', message: 'The request was rejected' };
  world.route53.faults.next('ChangeResourceRecordSets', fault(busy));
  const change = record('UPSERT', api, '127.64.0.1');
  await expect(world.change(change)).rejects.toMatchObject({ name: 'PriorRequestNotComplete' });
  await world.change(change);
  const outcomes = world.route53.callsOf('ChangeResourceRecordSets').map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['PriorRequestNotComplete', 'ok']);
});

test('texts are put beside those of others at a name, and taken away from among them', async ({
  world,
}) => {
  const name = '_acme-challenge.machines.sandbox.test';
  const { signal } = new AbortController();
  const { clock, sdk, zone } = world;
  const dns = new Route53Dns({ clock, client: sdk });
  const done = async (...orders: Promise<void>[]): Promise<void> => {
    await clock.forward(milliseconds(200));
    await Promise.all(orders);
  };
  await world.change(record('CREATE', name, '"theirs"', 'TXT'));
  await done(...['a', 'b'].map(async (text) => dns.addText(zone.id, name, text, signal)));
  expect(world.records).toEqual([`${name}. TXT "theirs","a","b"`]);

  await done(dns.removeText(zone.id, name, 'a', signal));
  await done(dns.removeText(zone.id, name, 'a', signal));
  expect(world.records).toEqual([`${name}. TXT "theirs","b"`]);
  const { length } = world.route53.callsOf('ChangeResourceRecordSets');
  expect(length).toBe(3); // by hand, both at once, one away
});
