import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';

import { getCondition } from '#kube/conditions.ts';
import { isClean, leaksOf } from '#sandbox/world/leaks.ts';
import { nodeClaims, nodePools, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { PodDisruptionBudget } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { parseProviderID } from '#schemas/provider-id.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { nodeClass, nodePool, workload } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

let world: TestWorld;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
  await world.expectUsable(nodeClass());
});
afterEach(async () => {
  await world.expectDeleted(budget, oneOfApi, web(0), api, nodePool(), ...(await world.claims()));
  await world.expectNoLeaks();
});
afterAll(async () => world?.stop());

/** A StatefulSet, whose Pods keep their names: one that is stuck keeps its successor from being made. */
const web = (replicas: number) => workload('StatefulSet', 'web', replicas);

test('a Node that is deleted by hand takes its machine along, and its Pods run elsewhere', async () => {
  const first = await machineWithPods();

  await world.client.delete(nodes, { name: nodeOf(first) });

  await world.expectGone(first);
  expect(await nodesOfPods()).not.toContain(nodeOf(first));
});

test('K7: a machine that is deleted is replaced before its Pod may leave, once, and the Pod runs there', async () => {
  const disruption = { consolidationPolicy: 'WhenEmpty', consolidateAfter: '0s' } as const;
  await world.expectApplied(nodePool({ disruption }), api, oneOfApi);
  const [before] = await world.expectRunning('api', 1);
  const [first] = await world.expectClaims(1);

  await world.expectDeleted(first!);

  const [second] = await world.expectClaims(1);
  await world.expectCondition(second!, 'Initialized', { status: 'True' });
  await world.clock.forward(minutes(2)); // no Pod is on it, nor planned for it by name
  const [still] = await world.expectRunning('api', 1);
  expect(still?.metadata.uid).toBe(before?.metadata.uid);
  expect(await world.eventsOf(before!)).not.toContain('Evicted');

  await world.expectDeleted(oneOfApi);

  await world.expectGone(first!);
  const [after] = await world.expectRunning('api', 1);
  expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
  expect(after?.spec?.nodeName).toBe(nodeOf(await world.claim(second!)));
  expect((await world.claims()).map(({ metadata }) => metadata.uid)).toEqual([
    second!.metadata.uid,
  ]);
});

test('when somebody else ends an instance, nothing holds its Pods there, and they run elsewhere', async () => {
  await world.expectApplied(budget);
  const first = await machineWithPods();
  world.cloud.ec2.instances.terminate(instanceOf(first));

  await world.clock.forward(seconds(80)); // by now its absence is no delay of the cloud

  await world.expectGone(first, { reason: 'InstanceEnded' });
  expect(await nodesOfPods()).not.toContain(nodeOf(first));
});

test('when the cloud stops an instance, it is ended, and its Pods run elsewhere', async () => {
  const first = await machineWithPods();
  world.cloud.ec2.instances.stop(instanceOf(first));

  await world.clock.forward(seconds(80));

  await world.expectGone(first, { reason: 'InstanceEnded' });
  expect(world.cloud.ec2.instances.get(instanceOf(first))?.state).toBe('terminated');
  expect(await nodesOfPods()).not.toContain(nodeOf(first));
});

test('a node class in use is held until its last claim is gone, and says which', async () => {
  const other = nodeClass({}, 'leaving');
  await world.expectUsable(other);
  const claim = await machineWithPods('web', 'leaving');

  await world.expectDeleted(other);

  const deleting = await world.eventually('told who uses it', async () => {
    const { status } = await world.client.get(unikraftNodeClasses, { name: 'leaving' });
    return getCondition(status?.conditions, 'Deleting');
  });
  expect(deleting).toMatchObject({ status: 'True', reason: 'WaitingForNodeClaims' });
  expect(deleting.message).toContain(claim.metadata.name);
  await world.expectRunning('web', 2); // nothing is taken from those who use it

  await world.expectDeleted(web(0), nodePool(), claim);
  await world.expectGone(claim);
  await world.eventually('gone too', () => isAbsent('leaving'), seconds(5));
});

test('a NodePool with dots and 63 characters has machines like any other, and takes them along', async () => {
  const name = `team.a.${'x'.repeat(52)}.web`;
  expect(name).toHaveLength(63);
  const claim = await machineWithPods(name);
  expect(nodeOf(claim)).toMatch(/^team-a-x{23}-[0-9a-f]{8}$/);

  await world.expectDeleted(nodePool({ name }));

  await world.expectNoLeaks(minutes(1)); // Kubernetes' garbage collector learns of new kinds within 30 s
  expect(world.cloud.ec2.instances.live).toEqual([]);
  expect((await world.client.list(nodePools)).items).toEqual([]);
});

test('what a claim left whose finalizer somebody took off is found and goes, to the disk that outlived its instance', async () => {
  const claim = await machineWithPods();
  for (const one of world.cloud.ec2.instances.interfaces.all) one.deletedOnTermination = false;
  const body = { metadata: { finalizers: null } };
  await world.client.patch(nodeClaims, claim.metadata, { type: 'merge', body });
  await world.expectDeleted(nodePool(), claim, web(0));
  await world.expectGone(claim);
  expect(world.cloud.ec2.instances.live).toHaveLength(1);

  await world.eventually('nothing left', async () => {
    await world.clock.forward(minutes(5));
    const leaks = await leaksOf(world.world);
    return isClean({ ...leaks, reservations: 0 });
  });

  const told = (await world.eventsOfOperator()).filter(
    ({ reason }) => reason === 'LeftoverRemoved',
  );
  expect(told.map(({ message }) => message?.split(' ')[0])).toEqual(
    expect.arrayContaining(['Name', 'Instance', 'Node', 'Part']),
  );
});

const api = workload('Deployment', 'api', 1);
/** Its only Pod may not be evicted as long as it is the only one: by and by, a budget would let it go. */
const oneOfApi: PodDisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'api' },
  spec: { selector: { matchLabels: { app: 'api' } }, minAvailable: 1 },
};

/** No Pod may be evicted: that holds a machine that lives, not one that is gone. */
const budget: PodDisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 0 },
};

/** A machine whose two Pods run. */
async function machineWithPods(name = 'web', of = 'default'): Promise<Live<NodeClaim>> {
  await world.expectApplied(nodePool({ name, nodeClass: of }), web(2));
  const [claim] = await world.expectClaims(1);
  if (!claim) throw new Error('no claim');
  await world.expectCondition(claim, 'Initialized', { status: 'True' });
  await world.expectRunning('web', 2);
  return world.claim(claim);
}

/** Where both Pods run, once they are whole again. */
async function nodesOfPods(): Promise<(string | undefined)[]> {
  await world.expectClaims(1);
  const running = await world.expectRunning('web', 2);
  return running.map(({ spec }) => spec?.nodeName);
}

function nodeOf({ status }: NodeClaim): string {
  return status?.nodeName ?? '';
}

function instanceOf({ status }: NodeClaim): string {
  return parseProviderID(status?.providerID ?? '')?.id ?? '';
}

async function isAbsent(name: string): Promise<boolean> {
  const { items } = await world.client.list(unikraftNodeClasses);
  return !items.some(({ metadata }) => metadata.name === name);
}
