import { beforeEach, expect, test } from 'vitest';

import { CreateError, NodeClassError, Unauthorized } from '#machine/errors.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import { controllerRevisions, nodes, statefulSets } from '#schemas/kubernetes/resource.ts';
import { annotations, labels, taints } from '#schemas/names.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks, revisionName } from '../testing/claim-world.ts';
import { nodePool } from '../testing/objects.ts';

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

test('a claim that asks for what is no quantity ends unlaunched, and says why', async () => {
  await world.claim({
    spec: {
      nodeClassRef: nodePool().spec.template.spec.nodeClassRef,
      requirements: [],
      resources: { requests: { cpu: '1e1.5' } },
    },
  });
  await world.gone();

  expect(world.cloud.launches).toEqual([]);
  expect(world.find()).toBeUndefined();
  expect(world.notes).toContainEqual(
    expect.objectContaining({
      reason: 'InvalidNodeClaim',
      message: expect.stringMatching(/^spec\.resources\.requests\.cpu: .*\(KPU319\)$/),
    }),
  );
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

test('where there is no room at all the claim ends, and nothing stays', async () => {
  for (const type of ['m8i.large', 'm8i.xlarge']) {
    world.cloud.full.add(`${type}/eu-central-1a`).add(`${type}/eu-central-1b`);
  }
  await world.claim();
  await world.gone();
  expect(reasons()).toContain('InsufficientCapacityError');
  expect(world.cloud.made).toEqual([]);
  expect(world.leaks()).toEqual(noLeaks);
});

test('a lost answer is asked for again with the same token: one machine', async () => {
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

test('a machine that died before its answer came is replaced by a second attempt', async () => {
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

test('refused credentials are not hammered at, and a person is told', async () => {
  world.cloud.launchFaults.push(...Array.from({ length: 50 }, () => new Unauthorized('denied')));
  await world.claim();
  const pause = await world.pass();
  expect(pause).toBe(minutes(1));
  expect(world.condition('Launched')).toMatchObject({ status: 'Unknown', reason: 'Unauthorized' });
  expect(world.notes).toMatchObject([{ reason: 'Unauthorized', message: 'denied (KPU311)' }]);
});

test('an unknown refusal is retried with growing pauses until the deadline, then another claim has its turn', async () => {
  const refusal = new CreateError('InvalidParameterValue', 'no', 'retry');
  world.cloud.launchFaults.push(...Array.from({ length: 500 }, () => refusal));
  await world.claim();
  expect(await world.pass()).toBe(seconds(2));
  await world.clock.forward(minutes(2));
  expect(await world.pass()).toBe(seconds(30));
  await world.clock.forward(minutes(3));
  await world.gone();
  expect(world.notes.find(({ reason }) => reason === 'LaunchDeadlineExceeded')?.message).toMatch(
    /Launched did not come about within 5 min \(no \(KPU312\)\).*KPU320/,
  );
  expect(world.leaks()).toEqual(noLeaks);
});

test('a machine that stays degraded never becomes a Node; its claim ends with the reason', async () => {
  world.platform.status = 'degraded';
  await world.claim();
  await world.until(() => world.condition('InstanceRunning')?.status === 'True');
  await world.clock.forward(minutes(19));
  await world.look();
  expect(world.condition('PlatformHealthy')?.message).toContain('node-health is degraded');
  await world.clock.forward(minutes(1));
  await world.gone();
  const end = world.notes.find(({ reason }) => reason === 'HealthDeadlineExceeded');
  expect(end?.message).toMatch(/within 20 min .*node-health is degraded.*KPU321/);
  expect(world.nodes).toEqual([]);
  expect(world.leaks()).toEqual(noLeaks);
});

test('an instance that ends before its Node is there ends the claim', async () => {
  world.platform.status = 'unknown';
  await world.claim();
  await world.until(() => world.condition('InstanceRunning')?.status === 'True');
  const [instance] = world.cloud.made;
  if (instance) world.cloud.kill(instance);
  await world.gone();
  expect(reasons()).toContain('InstanceEnded');
  expect(world.leaks()).toEqual(noLeaks);
});

test('a stopped instance is not gone: the claim ends and the instance with it', async () => {
  world.platform.status = 'unknown';
  await world.claim();
  await world.until(() => world.condition('InstanceRunning')?.status === 'True');
  const [instance] = world.cloud.made;
  if (instance) instance.stopped = true;
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
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

test('a Kraftlet Pod that finds no room is told as it is, and its Node has a deadline', async () => {
  world.kraftlets.isPending = true;
  await world.claim();
  await world.until(
    () => world.condition('KraftletInstalled')?.reason === 'KraftletPodUnschedulable',
  );
  expect(world.condition('KraftletInstalled')?.message).toContain('0/1 nodes are available');
  expect(reasons()).toContain('KraftletPodUnschedulable');
  await world.clock.forward(minutes(10));
  world.kraftlets.isPending = false; // the fake would keep the Pod otherwise
  await world.pass();
  expect(reasons()).toContain('RegistrationDeadlineExceeded');
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
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

test('without a class that can launch the claim ends unlaunched', async () => {
  world.client.remove(controllerRevisions, { namespace: world.namespace, name: revisionName });
  await world.claim();
  await world.gone();
  expect(reasons()).toContain('NodeClassNotReady');
  expect(world.leaks()).toEqual(noLeaks);
});

test('a pool at its limit gets no machine, and the event says which limit', async () => {
  world.client.seed(nodePools, nodePool({ limits: { cpu: '3' } }));
  await world.claim();
  await world.initialized();
  await world.claim({}, 'web-2');
  await world.gone('web-2');
  const end = world.notes.find(({ reason }) => reason === 'LimitReached');
  expect(end?.message).toContain('NodePool web is at its limit of 3 cpu (2 in use)');
  expect(world.cloud.made).toHaveLength(1);
});

test('a claim whose pool is gone gets no machine, since nobody knows its limits', async () => {
  world.client.remove(nodePools, { name: 'web' });
  await world.claim();
  await world.gone();
  expect(reasons()).toContain('NodePoolNotFound');
  expect(world.cloud.launches).toEqual([]);
});

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

test('an intent that somebody spoilt ends the claim rather than making a second machine', async () => {
  world.cloud.launchFaults.push('answer lost');
  await world.claim();
  await world.pass();
  const body = { metadata: { annotations: { [annotations.intent]: '{"attempt":' } } };
  await world.client.patch(nodeClaims, { name: 'web-1' }, { type: 'merge', body });
  await world.gone();
  expect(reasons()).toContain('LaunchIntentUnreadable');
  expect(world.cloud.made).toHaveLength(1);
  expect(world.leaks()).toEqual(noLeaks);
});

test('a revision deleted under a launch is told, and restored it goes on', async () => {
  world.platform.status = 'unknown';
  await world.claim();
  await world.until(() => world.condition('InstanceRunning')?.status === 'True');
  const key = { namespace: world.namespace, name: revisionName };
  const stored = world.client.peek(controllerRevisions, key);
  world.client.remove(controllerRevisions, key);
  expect(await world.pass()).toBe(seconds(30));
  expect(world.notes.at(-1)?.message).toMatch(/^ControllerRevision default-r1 is gone.*KPU334/);
  world.platform.status = 'healthy';
  if (stored) world.client.seed(controllerRevisions, stored);
  await world.initialized();
  expect(world.cloud.made).toHaveLength(1);
});

test('a revision deleted under a machine holds the claim until it is restored', async () => {
  await world.claim();
  await world.until(() => world.condition('InstanceRunning')?.status === 'True');
  const key = { namespace: world.namespace, name: revisionName };
  const stored = world.client.peek(controllerRevisions, key);
  world.client.remove(controllerRevisions, key);
  await world.delete();
  expect(await world.pass()).toBe(seconds(30));
  expect(reasons()).toContain('RevisionMissing');
  expect(world.cloud.alive).toHaveLength(1);
  if (stored) world.client.seed(controllerRevisions, stored);
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a StatefulSet of the release is made once, not on every look', async () => {
  await world.claim();
  await world.initialized();
  const applied = world.client.writes.filter(({ plural }) => plural === statefulSets.plural);
  expect(applied).toHaveLength(1);
});

test('a Node that was deleted by hand takes its machine with it', async () => {
  await world.claim();
  await world.initialized();
  await world.client.delete(nodes, { name: world.nodes[0]?.metadata.name ?? '' });
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a Node whose finalizer was torn off takes its machine with it too', async () => {
  await world.claim();
  await world.initialized();
  world.client.remove(nodes, { name: world.nodes[0]?.metadata.name ?? '' });
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
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
