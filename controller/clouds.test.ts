import { expect, test } from 'vitest';

import { silentLogger } from '#kube/log.ts';
import { CloudFacts } from '#machine/cloud/cloud-facts.ts';
import { noDns } from '#machine/dns/no-dns.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { LazyClouds } from './clouds.ts';
import { nodeClassSpec } from './testing/objects.ts';

const externalDns = { ...noDns };
const newClouds = () =>
  new LazyClouds({
    clock: new FakeClock(),
    facts: new CloudFacts(),
    log: silentLogger,
    tsigKey: async ({ name }) => ({ name, algorithm: 'hmac-sha256', secret: Buffer.from('x') }),
    externalDns,
  });
const role = (assumeRoleARN: string) =>
  nodeClassSpec({
    aws: {
      region: 'eu-west-1',
      assumeRoleARN,
      subnetSelectorTerms: [],
      securityGroupSelectorTerms: [],
    },
  });

test('node classes share one adapter of a cloud, so that they share its caches', async () => {
  const clouds = newClouds();
  const aws = await clouds.for(nodeClassSpec());
  expect(aws.name).toBe('aws');
  expect(await clouds.for(role('arn:aws:iam::1:role/a'))).toBe(aws);
});

test('DNS is shared by those who write with one role', async () => {
  const clouds = newClouds();
  const [own, same, other] = await Promise.all([
    clouds.dns(nodeClassSpec()),
    clouds.dns(nodeClassSpec({ dns: { provider: 'Route53', zone: 'other.example.com' } })),
    clouds.dns(role('arn:aws:iam::1:role/a')),
  ]);
  expect(same).toBe(own);
  expect(other).not.toBe(own);
});

test('a class for Google Cloud gets its own adapter, and its zone that of its project', async () => {
  const { aws: _, ...rest } = nodeClassSpec();
  const spec = (project: string, dnsProject?: string): typeof rest => ({
    ...rest,
    gcp: { project, region: 'europe-west1', subnetwork: 'machines' },
    dns: {
      provider: 'CloudDNS',
      zone: 'machines.example.com',
      ...(dnsProject !== undefined && { project: dnsProject }),
    },
  });
  const clouds = newClouds();
  const gcp = await clouds.for(spec('one'));
  expect(gcp.name).toBe('gcp');
  expect(await clouds.for(spec('two'))).toBe(gcp);
  expect((await clouds.for(nodeClassSpec())).name).toBe('aws');

  const [own, same, other, shared] = await Promise.all([
    clouds.dns(spec('one')),
    clouds.dns(spec('one')),
    clouds.dns(spec('two')),
    clouds.dns(spec('two', 'one')),
  ]);
  expect([same, shared]).toEqual([own, own]);
  expect(other).not.toBe(own);
  const named = nodeClassSpec({ dns: { provider: 'CloudDNS', zone: 'a.test', project: 'one' } });
  expect(await clouds.dns(named)).toBe(own);
  const unnamed = nodeClassSpec({ dns: { provider: 'CloudDNS', zone: 'a.test' } });
  await expect(clouds.dns(unnamed)).rejects.toThrow('no project');
});

test('a spec without a cloud is an error that says so', async () => {
  const { aws: _, ...spec } = nodeClassSpec();
  await expect(newClouds().for(spec)).rejects.toThrow('spec.aws and spec.gcp are missing');
});

test('classes whose names one key writes at one server share their updates', async () => {
  const spec = (server: string, name: string, zone = 'machines.example.com') =>
    nodeClassSpec({
      dns: { provider: 'RFC2136', zone, server, tsig: { name, secretRef: { name: 'dns-key' } } },
    });
  const clouds = newClouds();
  const [own, same, otherServer, otherKey] = await Promise.all([
    clouds.dns(spec('ns1.example.com', 'kpu')),
    clouds.dns(spec('ns1.example.com', 'kpu', 'other.example.com')),
    clouds.dns(spec('ns2.example.com', 'kpu')),
    clouds.dns(spec('ns1.example.com', 'other')),
  ]);
  expect(same).toBe(own);
  expect(new Set([own, otherServer, otherKey]).size).toBe(3);
});

test('names that are in no DNS are held by nobody', async () => {
  const dns = await newClouds().dns(nodeClassSpec({ dns: { provider: 'None', zone: 'a.test' } }));
  await expect(dns.resolveZone('A.test.', undefined, new AbortController().signal)).resolves.toBe(
    'a.test',
  );
});

test('names that external-dns writes are asked for in one place for all classes', async () => {
  const spec = nodeClassSpec({ dns: { provider: 'ExternalDNS', zone: 'a.test' } });
  expect(await newClouds().dns(spec)).toBe(externalDns);
});
