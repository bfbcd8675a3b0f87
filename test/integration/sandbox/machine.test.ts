/**
 * The life of one machine by the adapters that the operator uses, on the sandbox's cloud: what machine/ believes of
 * EC2, Route 53 and the platform, and what the sandbox does, are the same.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { silentLogger } from '#kube/log.ts';
import { AwsCloud } from '#machine/cloud/aws/aws-cloud.ts';
import { Ec2ClientPool } from '#machine/cloud/aws/clients.ts';
import { DnsLookup } from '#machine/dns/lookup.ts';
import { route53Client } from '#machine/dns/route53/client.ts';
import { Route53Dns } from '#machine/dns/route53/route53-dns.ts';
import { InsufficientCapacity } from '#machine/errors.ts';
import type { Candidate, Instance, MachineIdentity, PlatformEndpoint } from '#machine/machine.ts';
import { PlatformClient } from '#machine/platform/client.ts';
import { renderUserData } from '#machine/userdata/user-data.ts';
import { Authority } from '#pki/authority.ts';
import { machineZone, SandboxCloud } from '#sandbox/cloud/cloud.ts';
import { outOfCapacity } from '#sandbox/cloud/ec2/capacity.ts';
import { lost } from '#sandbox/cloud/wire/faults.ts';
import type { ResolvedNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { hours } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

const within = { timeout: 15_000, interval: 50 };
const clock = new SystemClock();
const quotas = { vcpus: 8, memoryMiB: 4096, volumeStorageMiB: 1024, instances: 10 };
const discovery = [{ tags: { 'karpenter.sh/discovery': 'sandbox' } }];
const spec: UnikraftNodeClassSpec = {
  aws: {
    region: 'eu-central-1',
    subnetSelectorTerms: discovery,
    securityGroupSelectorTerms: discovery,
    instanceProfile: 'unikraft-machine',
  },
  image: { selectorTerms: [{ name: 'unikraft-platform-*', owner: '123456789012' }] },
  dns: { provider: 'Route53', zone: machineZone },
  certificate: { api: { mode: 'PrivateCA' } },
  kraftlet: { chart: 'kraftlet' },
};
const { signal } = new AbortController();

let sandbox: SandboxCloud;
let cloud: AwsCloud;
let dns: Route53Dns;
let nodeClass: ResolvedNodeClass;
const clients = new Ec2ClientPool();

beforeAll(async () => {
  sandbox = await SandboxCloud.start({ log: silentLogger });
  for (const [name, value] of Object.entries(sandbox.env)) vi.stubEnv(name, value);
  cloud = new AwsCloud({ clock, clients });
  dns = new Route53Dns({ clock, client: route53Client() });
  nodeClass = {
    ...(await cloud.resolve(spec, signal)),
    nodeClass: 'default',
    spec,
    dnsZoneID: await dns.resolveZone(machineZone, undefined, signal),
  };
});

afterAll(async () => {
  clients.close();
  await sandbox?.stop();
  vi.unstubAllEnvs();
});

function identityOf(name: string): MachineIdentity {
  const owner = { nodePool: 'web', nodeClass: 'default', clusterUid: 'cluster-1' };
  return { name, claim: name, claimUid: `uid-of-${name}`, ...owner };
}

function candidateIn(index: number): Candidate {
  const { id, zone } = nodeClass.subnets[index]!;
  return { attempt: 1, instanceType: 'm7i.large', zone, subnet: id, metal: false };
}

async function expectState(identity: MachineIdentity, state: Instance['state']): Promise<Instance> {
  return vi.waitFor(async () => {
    const [instance] = await cloud.find(nodeClass, identity, signal);
    expect(instance?.state).toBe(state);
    return instance!;
  }, within);
}

test('the account is resolved, and sizes are those that can run guests', async () => {
  expect(nodeClass).toMatchObject({
    image: { name: 'unikraft-platform-1', architecture: 'amd64', rootDeviceName: '/dev/xvda' },
    subnets: [{ zone: 'eu-central-1a' }, { zone: 'eu-central-1b' }, { zone: 'eu-central-1c' }],
    dnsZoneID: sandbox.route53.zones.all[0]!.id,
  });
  const sizes = await cloud.sizes(nodeClass, signal);
  const names = sizes.map(({ type }) => type.name);
  expect(names).toContain('m7i.large');
  expect(names).not.toContain('m5.large');
  expect(names).not.toContain('m7g.metal'); // not of the image's architecture
});

test('a machine from launch to its end, with nothing left', async () => {
  const identity = identityOf('web-1');
  const fqdn = `api.${identity.name}.${machineZone}`;
  const authority = await Authority.create(clock, { commonName: 'test', validity: hours(1) });
  const leaf = await authority.issue({ names: [fqdn], validity: hours(1) });
  const secrets = { token: 'secret', tls: leaf, activation: undefined };
  const bootstrap = { fqdn, port: 8443, quotas, secrets, config: {}, imagePulls: [] };
  const userData = renderUserData(bootstrap, 'aws');
  const request = { identity, nodeClass, candidate: candidateIn(0), userData };

  sandbox.ec2.faults.next('RunInstances', lost()); // the SDK asks again, with the same token
  const launched = await cloud.launch(request, signal);
  expect((await cloud.launch(request, signal)).id).toBe(launched.id);
  expect(sandbox.ec2.instances.all).toHaveLength(1);

  const { privateAddress: address = '' } = await expectState(identity, 'running');
  const owner = { clusterUid: identity.clusterUid, claimUid: identity.claimUid };
  await dns.upsert(nodeClass.dnsZoneID, [{ name: fqdn, address, ttl: 60 }], owner, signal);
  const lookup = new DnsLookup([sandbox.dnsServer]);
  await vi.waitFor(
    async () => expect(await lookup.lookup(fqdn, signal)).toEqual([address]),
    within,
  );

  const ca = authority.pem.certificate;
  const endpoint: PlatformEndpoint = { fqdn, address, port: 8443, token: 'secret', ca };
  const platform = new PlatformClient(clock);
  const seen = new Set<string>();
  await vi.waitFor(async () => {
    const statuses = (await platform.health(endpoint, signal)).map(({ status }) => status);
    for (const status of statuses) seen.add(status);
    expect(statuses).toEqual(['healthy', 'healthy']);
  }, within);
  expect([...seen]).toEqual(expect.arrayContaining(['unknown', 'degraded', 'healthy']));
  expect(await platform.quotas(endpoint, signal)).toEqual(quotas);

  await dns.remove(nodeClass.dnsZoneID, [fqdn], owner, signal);
  await cloud.terminate(nodeClass, { ...identity, id: launched.id }, signal);
  await expectState(identity, 'terminated');
  expect(sandbox.leaks()).toEqual({
    instances: 0,
    volumes: 0,
    addresses: 0,
    records: 0,
    texts: 0,
    machines: 0,
  });
});

test('no capacity in a zone is known for what it is, at the first answer', async () => {
  const zone = 'eu-central-1b';
  const back = sandbox.ec2.faults.next(
    'RunInstances',
    outOfCapacity(sandbox.ec2.account, { zone }),
  );
  const asked = sandbox.ec2.callsOf('RunInstances').length;
  const request = { identity: identityOf('web-2'), nodeClass, userData: '#cloud-config\n' };

  const refused = cloud.launch({ ...request, candidate: candidateIn(1) }, signal);
  await expect(refused).rejects.toThrow(InsufficientCapacity);
  expect(sandbox.ec2.callsOf('RunInstances')).toHaveLength(asked + 1);
  const sizes = await cloud.sizes(nodeClass, signal);
  const size = sizes.find(({ type }) => type.name === 'm7i.large');
  expect(size?.offerings.map((offering) => [offering.zone, offering.available])).toEqual([
    ['eu-central-1a', true],
    ['eu-central-1b', false],
    ['eu-central-1c', true],
  ]);
  back();
});
