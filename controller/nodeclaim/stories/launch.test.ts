import { beforeEach, expect, test } from 'vitest';

import { noDns } from '#machine/dns/no-dns.ts';
import { NodeClassError } from '#machine/errors.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import { statefulSets } from '#schemas/kubernetes/resource.ts';
import { annotations, labels, taints } from '#schemas/names.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { seconds } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks, revisionName } from '../../testing/claim-world.ts';
import { requestAnnotation } from '../../testing/fake-machines.ts';
import { nodeClaim, nodePool } from '../../testing/objects.ts';

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
});

const reasons = (): string[] => world.notes.map(({ reason }) => reason);
const attempts = (): string[] =>
  world.cloud.launches.map(
    ({ candidate }) => `${candidate.instanceType}/${candidate.zone}#${candidate.attempt}`,
  );

test('a claim becomes a Node, step by step, in few writes', async () => {
  await world.claim();
  await world.initialized();

  expect(world.cloud.alive).toHaveLength(1);
  expect(world.find()?.status?.providerID).toBe('unikraft://aws/eu-central-1/eu-central-1a/i-1');
  expect(world.condition('Ready')?.status).toBe('True');
  const order = world.find()?.status?.conditions?.map(({ type }) => type);
  expect(order).toEqual([
    'CertificateReady',
    'Launched',
    'InstanceRunning',
    'DNSReady',
    'PlatformHealthy',
    'KraftletInstalled',
    'Registered',
    'Initialized',
    'Ready',
  ]);
  const written = world.client.writes.filter(({ plural }) =>
    ['nodeclaims', 'nodes'].includes(plural),
  );
  expect(written.length).toBeLessThanOrEqual(12);
});

test('its Node is open, and carries what scheduling needs to know', async () => {
  await world.claim({
    spec: {
      nodeClassRef: nodePool().spec.template.spec.nodeClassRef,
      requirements: [],
      taints: [{ key: 'team', value: 'shop', effect: 'NoSchedule' }],
    },
  });
  await world.initialized();

  const [node] = world.nodes;
  expect(node?.spec?.taints).toEqual([
    taints.kraftlet,
    { key: 'team', value: 'shop', effect: 'NoSchedule' },
  ]);
  expect(node?.metadata.labels).toMatchObject({
    [labels.nodePool]: 'web',
    [labels.zone]: 'eu-central-1a',
    [labels.instanceType]: 'm8i.large',
    [labels.registered]: 'true',
    [labels.initialized]: 'true',
    [labels.excludeFromLoadBalancers]: 'true',
  });
  expect(node?.metadata.finalizers).toEqual(['karpenter.sh/termination']);
  expect(node?.metadata.ownerReferences).toMatchObject([{ kind: 'NodeClaim', name: 'web-1' }]);
  expect(node?.metadata.annotations?.[annotations.intent]).toBeUndefined();
});

test('names that are in no DNS are neither written nor looked up, and Kraftlet is told them', async () => {
  world.useDns({ provider: 'None', zone: 'machines.internal' }, () => noDns);
  await world.claim();
  await world.initialized();
  const [set] = world.client.all(statefulSets);
  const request = JSON.parse(set?.metadata.annotations?.[requestAnnotation] ?? '') as object;
  const node = world.nodes[0]?.metadata.name ?? '';
  const [instance] = world.cloud.alive;
  expect(request).toMatchObject({
    endpoint: { fqdn: `api.${node}.machines.internal`, address: instance?.address },
    hostAliases: [
      {
        ip: instance?.address,
        hostnames: [`api.${node}.machines.internal`, `index.${node}.machines.internal`],
      },
    ],
  });
  expect(world.wire.passed.filter((point) => point.startsWith('dns.'))).toEqual([]);
  const told = world.notes.find(({ reason }) => reason === 'DNSReady')?.message;
  expect(told).toMatch(/ is in no DNS: the operator and Kraftlet know its address$/);

  await world.delete();
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('where there is no room the next place is tried, then the next size', async () => {
  world.cloud.full.add('m8i.large/eu-central-1a').add('m8i.large/eu-central-1b');
  await world.claim();
  await world.initialized();
  expect(attempts()).toEqual([
    'm8i.large/eu-central-1a#1',
    'm8i.large/eu-central-1b#1',
    'm8i.xlarge/eu-central-1a#1',
  ]);
  expect(world.find()?.metadata.labels?.[labels.instanceType]).toBe('m8i.xlarge');
});

test('a release is rendered once others are, and the pass of its claim does not wait for them', async () => {
  world.releases.isBusy = true;
  await world.claim();
  await world.until(() => world.condition('KraftletInstalled')?.reason === 'KraftletInLine');
  expect(world.client.all(statefulSets)).toEqual([]);

  world.releases.isBusy = false;
  await world.initialized();
});

test('T1: a lost answer is asked for again with the same token: one machine', async () => {
  world.cloud.launchFaults.push('answer lost');
  world.cloud.lateBy = seconds(30);
  await world.claim();
  await world.initialized();
  expect(world.cloud.launches).toHaveLength(2);
  expect(world.cloud.made).toHaveLength(1);
});

test('a machine that shows up in the list is taken over without another launch', async () => {
  world.cloud.launchFaults.push('answer lost');
  await world.claim();
  await world.initialized();
  expect(world.cloud.launches).toHaveLength(1);
  expect(world.cloud.made).toHaveLength(1);
});

test('T5: a machine that died before its answer came is replaced by a second attempt', async () => {
  world.cloud.launchFaults.push('answer lost');
  await world.claim();
  await world.until(() => world.cloud.made.length === 1);
  const [first] = world.cloud.made;
  if (first) world.cloud.kill(first);
  await world.initialized();
  expect(attempts()).toEqual([
    'm8i.large/eu-central-1a#1',
    'm8i.large/eu-central-1a#1',
    'm8i.large/eu-central-1a#2',
  ]);
  expect(world.cloud.alive).toHaveLength(1);
});

test('a chart that cannot be had for a while costs no machine', async () => {
  world.releases.renderFailure = new NodeClassError(
    { code: 'KPU260', condition: 'KraftletReady', reason: 'ChartUnavailable' },
    'the registry is away',
  );
  await world.claim();
  await world.until(() => world.condition('KraftletInstalled')?.reason === 'ChartUnavailable');
  world.releases.renderFailure = undefined;
  await world.initialized();
  expect(world.cloud.made).toHaveLength(1);
});

test('a Node that is not Ready yet is waited for', async () => {
  world.kraftlets.isNotReady = true;
  await world.claim();
  await world.until(() => world.condition('Initialized')?.reason === 'NodeNotReady');
  expect(world.nodes[0]?.metadata.labels?.[labels.initialized]).toBeUndefined();
  world.kraftlets.isNotReady = false;
  await world.initialized();
  expect(world.nodes[0]?.metadata.labels?.[labels.initialized]).toBe('true');
});

test('platform quotas that differ from the plan are told, and what the Node advertises is what counts', async () => {
  world.platform.allows = { vcpus: 1 };
  await world.claim();
  await world.initialized();
  expect(reasons()).toContain('QuotasDiffer');
  expect(world.find()?.status?.capacity).toMatchObject({ cpu: '1' });
});

test('what was learned from one machine is what is expected of the next', async () => {
  world.client.seed(nodePools, nodePool({ limits: { cpu: '20' } }));
  world.platform.allows = { vcpus: 16 };
  await world.claim();
  await world.initialized();
  const learned = world.client.peek(unikraftNodeClasses, { name: 'default' })?.status;
  expect(learned?.capacityCorrections).toMatchObject([
    { revision: revisionName, instanceType: 'm8i.large', vcpus: 16 },
  ]);
  const told = world.notes.length;
  await world.claim({}, 'web-2');
  await world.gone('web-2');
  expect(world.notes.slice(told).map(({ message }) => message)).toEqual([
    expect.stringContaining('NodePool web is at its limit of 20 cpu (16 in use)'),
  ]);
});

test('a Node that offers less than its platform allows is believed too', async () => {
  world.kraftlets.offers = { memory: '3600Mi' };
  await world.claim();
  await world.initialized();
  expect(world.find()?.status).toMatchObject({
    capacity: { memory: '3600Mi' },
    allocatable: { memory: '3600Mi' },
  });
  const learned = world.client.peek(unikraftNodeClasses, { name: 'default' })?.status;
  expect(learned?.capacityCorrections).toMatchObject([
    { revision: revisionName, instanceType: 'm8i.large', memoryMiB: 3600 },
  ]);
  expect(world.notes.filter(({ reason }) => reason === 'QuotasDiffer')).toMatchObject([
    { message: expect.stringMatching(/^The Node offers memory 3600Mi instead of /) },
  ]);
});

test('a Node that does not show all of what it has yet teaches nothing', async () => {
  world.kraftlets.offers = { memory: '0' };
  await world.claim();
  await world.initialized();
  const learned = world.client.peek(unikraftNodeClasses, { name: 'default' })?.status;
  expect(learned?.capacityCorrections ?? []).toEqual([]);
});

test('a machine that is larger than was thought counts in the limits as large as it is', async () => {
  world.client.seed(nodePools, nodePool({ limits: { cpu: '8' } }));
  world.platform.allows = { vcpus: 7 };
  await world.claim();
  await world.initialized();
  world.platform.allows = {};
  const told = world.notes.length;
  const { spec } = nodeClaim('web-2');
  const other = { key: labels.instanceType, operator: 'In' as const, values: ['m8i.xlarge'] };
  await world.claim({ spec: { ...spec, requirements: [other] } }, 'web-2');
  await world.gone('web-2');
  expect(world.notes.slice(told).map(({ message }) => message)).toEqual([
    expect.stringContaining('NodePool web is at its limit of 8 cpu (7 in use)'),
  ]);
  await world.delete();
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test.each([7, 100])(
  'a machine that allows %s vCPUs in place of 2 keeps to no limit itself',
  async (vcpus) => {
    world.client.seed(nodePools, nodePool({ limits: { cpu: '4' } }));
    world.platform.allows = { vcpus };
    await world.claim();
    await world.initialized();
    expect(world.find()?.status?.capacity).toMatchObject({ cpu: String(vcpus) });
  },
);

test('a claim made by hand, without pool and finalizer, lives and ends like any other', async () => {
  const { spec } = nodePool();
  const { nodeClassRef } = spec.template.spec;
  await world.client.create(nodeClaims, {
    metadata: { name: 'by-hand' },
    spec: { nodeClassRef, requirements: [] },
  });
  await world.initialized('by-hand');
  expect(world.nodes[0]?.metadata.name).toMatch(/^by-hand-[0-9a-f]{8}$/);
  await world.delete('by-hand');
  await world.gone('by-hand');
  expect(world.leaks()).toEqual(noLeaks);
});

test('a StatefulSet of the release is made once, not on every look', async () => {
  await world.claim();
  await world.initialized();
  const applied = world.client.writes.filter(({ plural }) => plural === statefulSets.plural);
  expect(applied).toHaveLength(1);
});

test('a cache that is late loses no machine', async () => {
  await world.claim();
  await world.until(() => world.condition('KraftletInstalled')?.status === 'True');
  world.caches.nodes.fallBehind();
  await world.look();
  await world.look();
  expect(world.find()?.metadata.deletionTimestamp).toBeUndefined();
  world.caches.nodes.catchUp();
  await world.initialized();
});
