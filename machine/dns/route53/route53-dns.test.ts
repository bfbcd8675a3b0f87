import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

import { milliseconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { DnsConflict, DnsUnavailable, NodeClassError } from '../../errors.ts';
import { failureOf } from '../../testing/ec2.ts';
import { HostedZone, invalidBatch, refusal } from '../../testing/hosted-zone.ts';
import { Wire } from '../../testing/wire.ts';
import { route53Client } from './client.ts';
import { Route53Dns } from './route53-dns.ts';

const signal = new AbortController().signal;
const owner = (claimUid: string) => ({ clusterUid: 'cluster', claimUid });
const zoneName = 'machines.example.com';
const nameOf = (node: string) => `api.${node}.${zoneName}`;
let wire: Wire;
let zone: HostedZone;
let clock: FakeClock;
let dns: Route53Dns;

beforeAll(async () => {
  wire = await Wire.start();
});
afterAll(() => wire.stop());
beforeEach(() => {
  vi.stubEnv('AWS_ENDPOINT_URL_ROUTE_53', wire.url);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  wire.calls.length = 0;
  zone = new HostedZone(zoneName);
  zone.serve(wire);
  clock = new FakeClock();
  dns = new Route53Dns({ clock, client: route53Client({ maxAttempts: 1 }) });
});

/** The order is given, its batch is collected, and whatever becomes of it is returned. */
async function afterCollecting<T>(order: Promise<T>): Promise<T> {
  order.catch(() => {}); // looked at below
  await clock.forward(milliseconds(200));
  return order;
}
const upsert = async (node: string, address: string, by = node) =>
  dns.upsert('Z1', [{ name: nameOf(node), address, ttl: 60 }], owner(by), signal);
const remove = async (node: string, by = node) =>
  dns.remove('Z1', [nameOf(node)], owner(by), signal);

describe('a record', () => {
  test('is written with its ownership in one change', async () => {
    await afterCollecting(upsert('web-1', '10.0.0.7'));

    expect(zone.batches).toEqual([
      [`CREATE A ${nameOf('web-1')}`, `CREATE TXT _kpu.${nameOf('web-1')}`],
    ]);
    expect(zone.contents).toEqual([
      `${nameOf('web-1')} A 10.0.0.7`,
      `_kpu.${nameOf('web-1')} TXT "heritage=karpenter-unikraft,owner=cluster,nodeclaim=web-1"`,
    ]);
  });

  test('that reads so already costs no change', async () => {
    await afterCollecting(upsert('web-1', '10.0.0.7'));
    await afterCollecting(upsert('web-1', '10.0.0.7'));

    expect(zone.batches).toHaveLength(1);
  });

  test('with another address takes the old one’s place', async () => {
    await afterCollecting(upsert('web-1', '10.0.0.7'));
    await afterCollecting(upsert('web-1', '10.0.0.8'));

    expect(zone.batches[1]).toEqual([`DELETE A ${nameOf('web-1')}`, `CREATE A ${nameOf('web-1')}`]);
    expect(zone.contents).toContain(`${nameOf('web-1')} A 10.0.0.8`);
  });

  test('that somebody deleted by hand is written again', async () => {
    await afterCollecting(upsert('web-1', '10.0.0.7'));
    zone.records.delete(`${nameOf('web-1')} A`);
    await afterCollecting(upsert('web-1', '10.0.0.7'));

    expect(zone.batches[1]).toEqual([`CREATE A ${nameOf('web-1')}`]);
  });

  test('is removed with its ownership, and removing it again does nothing', async () => {
    await afterCollecting(upsert('web-1', '10.0.0.7'));
    await afterCollecting(remove('web-1'));
    await afterCollecting(remove('web-1'));

    expect(zone.contents).toEqual([]);
    expect(zone.batches).toHaveLength(2);
  });

  test('for all names below a machine keeps its ownership out of their way', async () => {
    const name = `*.web-1.${zoneName}`;
    const record = { name, address: '10.0.0.7', ttl: 60 };
    await afterCollecting(dns.upsert('Z1', [record], owner('web-1'), signal));
    await afterCollecting(dns.upsert('Z1', [record], owner('web-1'), signal));

    expect(zone.batches).toEqual([
      [`CREATE A ${name}`, `CREATE TXT _kpu._wildcard.web-1.${zoneName}`],
    ]);
  });
});

describe('a name of somebody else', () => {
  test('is never overwritten, whether marked or not', async () => {
    zone.put(nameOf('web-1'), 'A', '192.0.2.1');
    zone.put(nameOf('web-2'), 'CNAME', 'elsewhere.example.com');
    await afterCollecting(upsert('web-3', '10.0.0.3', 'other-claim'));

    for (const node of ['web-1', 'web-2', 'web-3']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, each its own batch
      const error = await failureOf(afterCollecting(upsert(node, '10.0.0.7')));
      expect(error).toBeInstanceOf(DnsConflict);
      expect(error.message).toContain(`${nameOf(node)} is taken by`);
    }
    expect(zone.batches).toHaveLength(1);
  });

  test('is never removed', async () => {
    zone.put(nameOf('web-1'), 'A', '192.0.2.1');
    await afterCollecting(upsert('web-2', '10.0.0.2', 'other-claim'));
    await afterCollecting(remove('web-1'));
    await afterCollecting(remove('web-2'));

    expect(zone.contents).toHaveLength(3);
  });
});

describe('many machines', () => {
  const nodes = Array.from({ length: 20 }, (_, index) => `web-${index}`);

  test('share one walk through the zone and one change', async () => {
    await afterCollecting(Promise.all(nodes.map(async (node) => upsert(node, '10.0.0.7'))));

    expect(zone.records.size).toBe(40);
    expect(wire.calls).toHaveLength(2);
  });

  test('are not held up by one whose name is taken', async () => {
    zone.put(nameOf('web-3'), 'A', '192.0.2.1');

    const results = await afterCollecting(
      Promise.allSettled(nodes.map(async (node) => upsert(node, '10.0.0.7'))),
    );

    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(zone.batches).toHaveLength(1);
  });

  test.each([
    ['as its SDK knows it', refusal('InvalidChangeBatch', 400)],
    ['as its SDK does not know it', invalidBatch('one of them')],
  ])('are written one by one when Route 53 refuses them together, %s', async (_form, reply) => {
    zone.refuse.push(reply);

    const orders = nodes.slice(0, 3).map(async (node) => upsert(node, '10.0.0.7'));
    await afterCollecting(Promise.all(orders));

    expect(zone.batches).toHaveLength(3);
    expect(zone.records.size).toBe(6);
  });
});

test('a busy or silent Route 53 is asked again later', async () => {
  zone.refuse.push(refusal('PriorRequestNotComplete', 400), refusal('ServiceUnavailable', 503));

  const busy = await failureOf(afterCollecting(upsert('web-1', '10.0.0.7')));
  const silent = await failureOf(afterCollecting(upsert('web-1', '10.0.0.7')));
  await afterCollecting(upsert('web-1', '10.0.0.7'));

  expect([busy, silent].every((error) => error instanceof DnsUnavailable)).toBe(true);
  expect(zone.records.size).toBe(2);
});

describe('a zone', () => {
  test('is found by its name, and proven writable without writing', async () => {
    await expect(dns.resolveZone(`${zoneName}.`, undefined, signal)).resolves.toBe('Z1');
    expect(zone.batches).toEqual([[`DELETE TXT _kpu-check.${zoneName}`]]);
    expect(zone.contents).toEqual([]);
  });

  test('that does not exist, has another name or may not be written says so', async () => {
    const missing = await failureOf(dns.resolveZone('example.org', undefined, signal));
    const other = await failureOf(dns.resolveZone('example.org', 'Z1', signal));
    zone.refuse.push(refusal('AccessDenied', 403));
    const forbidden = await failureOf(dns.resolveZone(zoneName, undefined, signal));

    expect([missing, other, forbidden].every((error) => error instanceof NodeClassError)).toBe(
      true,
    );
    expect([missing.code, other.code, forbidden.code]).toEqual(['KPU240', 'KPU240', 'KPU241']);
  });
});
