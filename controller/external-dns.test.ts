import { beforeEach, describe, expect, test } from 'vitest';

import { dnsEndpoints, type DnsEndpoint } from '#machine/dns/externaldns/endpoint.ts';
import { DnsConflict } from '#machine/errors.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';

import { ExternalDns } from './external-dns.ts';
import { memoryContext } from './testing/context.ts';
import { ofMachines } from './testing/fake-external-dns.ts';
import type { MemoryClient } from './testing/memory-client.ts';
import { refusal } from './testing/refusals.ts';

const signal = new AbortController().signal;
const zone = 'machines.example.com';
const owner = { clusterUid: 'cluster', claim: 'web-1', claimUid: 'uid-1' };
const record = { name: `api.web-1.${zone}`, address: '10.0.0.7', ttl: 60 };
const wanted = {
  dnsName: record.name,
  recordType: 'A',
  targets: ['10.0.0.7'],
  recordTTL: 60,
};

let client: MemoryClient;
let namespace: string;
let dns: ExternalDns;
beforeEach(() => {
  ({ client, namespace } = memoryContext());
  dns = new ExternalDns(client, namespace);
});

const write = async (records = [record]): Promise<void> => dns.upsert(zone, records, owner, signal);
const stored = (name = 'web-1'): Live<DnsEndpoint> | undefined =>
  client.peek(dnsEndpoints, { namespace, name });

test('a machine has one DNSEndpoint with all its names, which no claim owns', async () => {
  const wild = { name: `*.web-1.apps.${zone}`, address: '2001:db8::7', ttl: 5 };
  await write([record, wild]);
  expect(stored()).toMatchObject({
    apiVersion: 'externaldns.k8s.io/v1alpha1',
    metadata: { labels: { [labels.claimUid]: 'uid-1' } },
    spec: {
      endpoints: [
        wanted,
        { dnsName: wild.name, recordType: 'AAAA', targets: ['2001:db8::7'], recordTTL: 5 },
      ],
    },
  });
  expect(stored()?.metadata).not.toHaveProperty('ownerReferences'); // ADR 30
});

test('what is there already costs no write, whatever external-dns has added to it', async () => {
  await write();
  const made = stored();
  const noted = { ...wanted, labels: { resource: 'crd/x' }, providerSpecific: [] };
  client.seed(dnsEndpoints, { ...made, spec: { endpoints: [noted] } });
  const { length } = client.writes;
  await write();
  expect(client.writes).toHaveLength(length);
});

test('T30: a value that was changed by hand is set right', async () => {
  await write();
  const changed = { ...wanted, targets: ['192.0.2.1'] };
  client.seed(dnsEndpoints, { ...stored(), spec: { endpoints: [changed] } });
  await write();
  expect(stored()?.spec.endpoints).toEqual([wanted]);
});

test('T30: one of somebody else by its name is neither changed nor removed', async () => {
  const spec = { endpoints: [{ ...wanted, targets: ['192.0.2.1'] }] };
  client.seed(dnsEndpoints, { metadata: { namespace, name: 'web-1' }, spec });
  await expect(write()).rejects.toThrow(DnsConflict);
  await dns.remove(zone, [record.name], owner, signal);
  expect(stored()?.spec).toEqual(spec);
});

test('T30: who is killed between finds what it made, and two at once make one', async () => {
  client.fail(({ verb }) => verb === 'get', refusal(404, 'NotFound', 'not there yet'));
  await Promise.all([write(), write()]);
  expect(ofMachines(client)).toHaveLength(1);
  await write();
  expect(ofMachines(client)).toHaveLength(1);
});

test('all that was made for a machine is removed, and nothing of another one', async () => {
  await write();
  await dns.upsert(zone, [record], { ...owner, claim: 'web-2', claimUid: 'uid-2' }, signal);
  await dns.remove(zone, [], owner, signal);
  await dns.remove(zone, [], owner, signal);
  expect(ofMachines(client).map(({ metadata }) => metadata.name)).toEqual(['web-2']);
});

test('why names do not come is told as far as it is known', async () => {
  await write();
  await expect(dns.hindrance(owner, signal)).resolves.toMatch(
    /^external-dns has not read DNSEndpoint \S+\/web-1: does it run with the source crd/,
  );
  client.seed(dnsEndpoints, { ...stored()!, status: { observedGeneration: 1 } });
  await expect(dns.hindrance(owner, signal)).resolves.toMatch(/^external-dns has read /);
  await write([{ ...record, address: '10.0.0.8' }]);
  await expect(dns.hindrance(owner, signal)).resolves.toMatch(/^external-dns has not read /);
});

describe('a node class', () => {
  const resolve = async (): Promise<string> => dns.resolveZone(`${zone}.`, undefined, signal);

  test('can use it where DNSEndpoints may be made, and none is for that', async () => {
    await expect(resolve()).resolves.toBe(zone);
    expect(client.all(dnsEndpoints)).toEqual([]);
  });

  test.each([
    [404, 'NotFound', 'KPU372', "install external-dns' CRD"],
    [403, 'Forbidden', 'KPU373', 'a policy says no'],
    [422, 'Invalid', 'KPU373', 'a policy says no'],
    [400, 'BadRequest', 'KPU373', 'a policy says no'],
  ])('is told of %i with the way out, in whichever step', async (status, reason, code, says) => {
    const error = refusal(status, reason, 'a policy says no');
    client.fail(({ verb }) => verb === 'create', error, 2);
    const expected = {
      code,
      condition: 'DNSReady',
      canPass: true,
      message: expect.stringContaining(says) as string,
    };
    await expect(resolve()).rejects.toMatchObject(expected);
    await expect(write()).rejects.toMatchObject(expected);
  });

  test('that ends finds nothing to remove where the kind is gone', async () => {
    client.fail(({ verb }) => verb === 'list', refusal(404, 'NotFound', 'no such kind'));
    await expect(dns.remove(zone, [], owner, signal)).resolves.toBeUndefined();
  });
});
