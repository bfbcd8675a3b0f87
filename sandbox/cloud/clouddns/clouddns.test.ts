/** Names of machines in Cloud DNS: the stories of Route 53, on the wire of the other. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { CloudDnsApi } from '#machine/dns/clouddns/api.ts';
import { CloudDns as Writer } from '#machine/dns/clouddns/cloud-dns.ts';
import { DnsConflict, DnsUnavailable, type MachineError, NodeClassError } from '#machine/errors.ts';
import { milliseconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { tokenAnswer } from '../gce/metadata-server.ts';
import { fault, lost } from '../wire/faults.ts';
import { CloudDns, type ManagedZone } from './clouddns.ts';
import { applied, recordKey, type RecordSet } from './zone.ts';

const { signal } = new AbortController();
const project = 'p-1234';
const domain = 'machines.example.com';
const zoneID = `projects/${project}/managedZones/machines`;
const owner = (claimUid: string) => ({ clusterUid: 'cluster', claimUid });
const nameOf = (node: string) => `api.${node}.${domain}`;
let clock: FakeClock;
let service: CloudDns;
let zone: ManagedZone;
let dns: Writer;

beforeEach(async () => {
  clock = new FakeClock();
  service = new CloudDns({ clock, timings: { propagation: milliseconds(50) } });
  await service.start();
  zone = service.create(project, 'machines', domain);
  const api = new CloudDnsApi(async () => tokenAnswer.token, `${service.url}/dns/v1/`);
  dns = new Writer({ clock, api, project });
});
afterEach(() => service.stop());

/** The order is given, its batch is collected, and whatever becomes of it is returned. */
async function afterCollecting<T>(order: Promise<T>): Promise<T> {
  order.catch(() => {}); // looked at below
  await clock.forward(milliseconds(200));
  return order;
}
const upsert = async (node: string, address: string, by = node) =>
  dns.upsert(zoneID, [{ name: nameOf(node), address, ttl: 60 }], owner(by), signal);
const remove = async (node: string, by = node) =>
  dns.remove(zoneID, [nameOf(node)], owner(by), signal);
const failureOf = async (promise: Promise<unknown>): Promise<MachineError> =>
  promise.then(
    () => expect.fail('it succeeded'),
    (error: MachineError) => error,
  );
/** `name type value`, without the zone's own. */
const contents = (): string[] =>
  [...zone.records.values()]
    .filter(({ type }) => type !== 'SOA' && type !== 'NS')
    .map(({ name, type, rrdatas }) => `${name} ${type} ${rrdatas.join()}`);
const changes = () => service.callsOf('changes.create').map(({ parameters }) => parameters.body);

/** Somebody else's record. */
function put(record: RecordSet): void {
  zone.records = applied(zone.dnsName, zone.records, { additions: [record], deletions: [] });
}
const address = (name: string, value: string): RecordSet => ({
  name: `${name}.`,
  type: 'A',
  ttl: 60,
  rrdatas: [value],
});

describe('a record', () => {
  test('T30: is written with its ownership in one change, and only so', async () => {
    await afterCollecting(upsert('web-1', '10.0.0.7'));
    await afterCollecting(upsert('web-1', '10.0.0.7'));

    const text = '"heritage=karpenter-unikraft,owner=cluster,nodeclaim=web-1"';
    expect(contents()).toEqual([
      `${nameOf('web-1')}. A 10.0.0.7`,
      `_kpu.${nameOf('web-1')}. TXT ${text}`,
    ]);
    expect(changes()).toMatchObject([
      { additions: [{ type: 'A' }, { type: 'TXT' }], deletions: [] },
    ]);
  });

  test('T30: with another address takes the old one’s place, which it names exactly', async () => {
    await afterCollecting(upsert('web-1', '10.0.0.7'));
    await afterCollecting(upsert('web-1', '10.0.0.8'));
    const set = address(nameOf('web-1'), '10.0.0.7');
    expect(changes()[1]).toEqual({
      additions: [{ ...set, rrdatas: ['10.0.0.8'] }],
      deletions: [set],
    });
  });

  test('T30: that was changed by hand is put right, and one that was deleted is written again', async () => {
    await afterCollecting(upsert('web-1', '10.0.0.7'));
    const set = { ...address(nameOf('web-1'), '10.0.0.9'), ttl: 5 };
    zone.records = new Map(zone.records).set(recordKey(set), set);
    await afterCollecting(upsert('web-1', '10.0.0.7'));
    expect(contents()).toContain(`${nameOf('web-1')}. A 10.0.0.7`);

    const less = new Map(zone.records);
    less.delete(recordKey(set));
    zone.records = less;
    await afterCollecting(upsert('web-1', '10.0.0.7'));
    expect(contents()).toContain(`${nameOf('web-1')}. A 10.0.0.7`);
  });

  test('is removed with its ownership, and removing it again does nothing', async () => {
    await afterCollecting(upsert('web-1', '10.0.0.7'));
    await afterCollecting(remove('web-1'));
    await afterCollecting(remove('web-1'));
    expect(contents()).toEqual([]);
    expect(changes()).toHaveLength(2);
  });

  test('for all names below a machine keeps its ownership out of their way', async () => {
    const record = { name: `*.web-1.${domain}`, address: '10.0.0.7', ttl: 60 };
    await afterCollecting(dns.upsert(zoneID, [record], owner('web-1'), signal));
    await afterCollecting(dns.upsert(zoneID, [record], owner('web-1'), signal));
    expect(contents().map((one) => one.split(' ')[0])).toEqual([
      `*.web-1.${domain}.`,
      `_kpu._wildcard.web-1.${domain}.`,
    ]);
    expect(changes()).toHaveLength(1);
  });

  test('whose answer was lost is found to be there', async () => {
    service.faults.next('changes.create', lost());
    const first = await failureOf(afterCollecting(upsert('web-1', '10.0.0.7')));
    expect(first).toBeInstanceOf(DnsUnavailable);
    await afterCollecting(upsert('web-1', '10.0.0.7'));
    expect(contents()).toHaveLength(2);
    expect(changes()).toHaveLength(1);
  });
});

describe('a name of somebody else', () => {
  test('is never overwritten, whether marked or not', async () => {
    put(address(nameOf('web-1'), '192.0.2.1'));
    const alias = { name: `${nameOf('web-2')}.`, type: 'CNAME', ttl: 60, rrdatas: ['elsewhere.'] };
    put(alias);
    await afterCollecting(upsert('web-3', '10.0.0.3', 'other-claim'));

    for (const node of ['web-1', 'web-2', 'web-3']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, each its own batch
      const error = await failureOf(afterCollecting(upsert(node, '10.0.0.7')));
      expect(error).toBeInstanceOf(DnsConflict);
      expect(error.message).toContain(`${nameOf(node)} is taken by`);
    }
    expect(changes()).toHaveLength(1);
  });

  test('is never removed', async () => {
    put(address(nameOf('web-1'), '192.0.2.1'));
    await afterCollecting(upsert('web-2', '10.0.0.2', 'other-claim'));
    await afterCollecting(remove('web-1'));
    await afterCollecting(remove('web-2'));
    expect(contents()).toHaveLength(3);
  });
});

describe('many machines', () => {
  const nodes = Array.from({ length: 80 }, (_, index) => `web-${index}`);

  test('share one walk through the zone and two changes', async () => {
    await afterCollecting(Promise.all(nodes.map(async (node) => upsert(node, '10.0.0.7'))));
    expect(contents()).toHaveLength(160);
    expect(changes()).toHaveLength(2);
    await afterCollecting(Promise.all(nodes.map(async (node) => remove(node))));
    expect(contents()).toEqual([]);
    const lists = service.callsOf('resourceRecordSets.list');
    expect(lists).toHaveLength(1 + 2); // 2 sets and no name in it yet; then 162, 100 to a page
  });

  test('are written one by one when they are refused together', async () => {
    const code = {
      code: 'alreadyExists',
      status: 409,
      message: "The resource 'entity.change.additions[0]'",
    };
    service.faults.next('changes.create', fault(code));
    const orders = nodes.slice(0, 3).map(async (node) => upsert(node, '10.0.0.7'));
    await afterCollecting(Promise.all(orders));
    expect(service.callsOf('changes.create').map(({ outcome }) => outcome)).toEqual([
      'alreadyExists',
      'ok',
      'ok',
      'ok',
    ]);
  });

  test('are not held up by one whose name is taken', async () => {
    put(address(nameOf('web-3'), '192.0.2.1'));
    const orders = nodes.slice(0, 9).map(async (node) => upsert(node, '10.0.0.7'));
    const results = await afterCollecting(Promise.allSettled(orders));
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(changes()).toHaveLength(1);
  });
});

test('texts are put beside those of others at a name, and taken away from among them', async () => {
  const name = `_acme-challenge.${domain}`;
  put({ name: `${name}.`, type: 'TXT', ttl: 7, rrdatas: ['"theirs"'] });
  const both = ['a', 'b'].map(async (text) => dns.addText(zoneID, name, text, signal));
  await afterCollecting(Promise.all(both));
  expect(contents()).toEqual([`${name}. TXT "theirs","a","b"`]);
  await afterCollecting(dns.removeText(zoneID, name, 'a', signal));
  await afterCollecting(dns.removeText(zoneID, name, 'a', signal));
  expect(contents()).toEqual([`${name}. TXT "theirs","b"`]);
  expect(changes()).toHaveLength(2);
});

test('a busy or silent Cloud DNS is asked again later', async () => {
  service.faults.next('changes.create', fault({ code: 'rateLimitExceeded', status: 403 }));
  service.faults.next('changes.create', fault({ code: 'backendError', status: 503 }));
  const busy = await failureOf(afterCollecting(upsert('web-1', '10.0.0.7')));
  const silent = await failureOf(afterCollecting(upsert('web-1', '10.0.0.7')));
  await afterCollecting(upsert('web-1', '10.0.0.7'));
  expect([busy, silent].every((error) => error instanceof DnsUnavailable)).toBe(true);
  expect(contents()).toHaveLength(2);
});

describe('a zone', () => {
  test('is found by its DNS name, and proven writable without writing', async () => {
    await expect(dns.resolveZone(`${domain}.`, undefined, signal)).resolves.toBe(zoneID);
    expect(service.callsOf('changes.create').map(({ outcome }) => outcome)).toEqual(['notFound']);
    expect(contents()).toEqual([]);
  });

  test('is the named one where several have the DNS name', async () => {
    service.create(project, 'private', domain);
    const error = await failureOf(dns.resolveZone(domain, undefined, signal));
    expect(error).toMatchObject({ code: 'KPU242' });
    expect(error.message).toContain('machines, private');
    const named = await dns.resolveZone(domain, 'private', signal);
    expect(named).toBe(`projects/${project}/managedZones/private`);
  });

  test('that does not exist, has another name or may not be written says so', async () => {
    const missing = await failureOf(dns.resolveZone('example.org', undefined, signal));
    const unnamed = await failureOf(dns.resolveZone(domain, 'absent', signal));
    const other = await failureOf(dns.resolveZone('example.org', 'machines', signal));
    service.faults.next('changes.create', fault({ code: 'forbidden', status: 403 }));
    const forbidden = await failureOf(dns.resolveZone(domain, undefined, signal));
    const all = [missing, unnamed, other, forbidden];
    expect(all.every((error) => error instanceof NodeClassError)).toBe(true);
    expect(all.map(({ code }) => code)).toEqual(['KPU240', 'KPU240', 'KPU240', 'KPU241']);
  });
});

test('what Cloud DNS does not know it refuses', async () => {
  const call = async (path: string, init?: RequestInit): Promise<number> => {
    const headers = { authorization: `Bearer ${tokenAnswer.token}` };
    return (await fetch(`${service.url}${path}`, { ...init, headers })).status;
  };
  const home = `/dns/v1/projects/${project}/managedZones/machines`;
  const change = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });
  const set = address(nameOf('web-1'), '10.0.0.1');
  expect(await call(`${home}/rrsets?names=x`)).toBe(400);
  expect(await call(`${home}/changes`, change({ addition: [set] }))).toBe(400);
  expect(await call(`${home}/changes`, change({ additions: [{ ...set, values: [] }] }))).toBe(400);
  expect(await call(`${home}/changes`, change({ additions: [{ ...set, rrdatas: ['x'] }] }))).toBe(
    400,
  );
  expect(await call(`${home}/changes`, change({ additions: [set] }))).toBe(200);
  expect(await call(`${home}/changes`, change({ additions: [set] }))).toBe(409);
  const otherwise = { ...set, ttl: 61 };
  expect(await call(`${home}/changes`, change({ deletions: [otherwise] }))).toBe(412);
});

describe('the names of a cluster', () => {
  test('are those that it has marked, of a zone that is read to its end', async () => {
    await afterCollecting(upsert('web', '10.0.0.7'));
    put({ name: `www.${domain}.`, type: 'A', ttl: 60, rrdatas: ['192.0.2.1'] });
    for (let index = 0; index < 700; index++) {
      const name = `a-${index}.${domain}.`;
      put({ name, type: 'A', ttl: 60, rrdatas: ['192.0.2.1'] });
    }
    expect(await dns.owned(zoneID, 'cluster', signal)).toEqual([
      { name: nameOf('web'), owner: owner('web'), addresses: ['10.0.0.7'] },
    ]);
    expect(await dns.owned(zoneID, 'another', signal)).toEqual([]);
    const isSecond = ({ query }: { query: URLSearchParams }): boolean => query.has('pageToken');
    const away = fault({ code: 'backendError', status: 503, when: isSecond });
    service.faults.next('resourceRecordSets.list', away);
    expect(await failureOf(dns.owned(zoneID, 'cluster', signal))).toBeInstanceOf(DnsUnavailable);
  });
});
