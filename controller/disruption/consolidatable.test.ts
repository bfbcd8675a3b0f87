import { beforeEach, expect, test } from 'vitest';

import { isTrue } from '#kube/conditions.ts';
import { nodeClaims, nodePools, type NodeClaim } from '#schemas/karpenter/types.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import { seconds } from '#schemas/time/clock.ts';

import { memoryContext } from '../testing/context.ts';
import { nodeClaim, nodePool, pod, runningMachine } from '../testing/objects.ts';
import { Consolidatable } from './consolidatable.ts';
import { PodActivity } from './pod-activity.ts';

let world: ReturnType<typeof memoryContext>;
let controller: Consolidatable;

beforeEach(() => {
  world = memoryContext();
  controller = new Consolidatable(world.context, new PodActivity(world.context));
  world.client.seed(nodePools, nodePool({ disruption: { consolidateAfter: '30s' } }));
});

function seedMachine(): void {
  const { claim, node } = runningMachine('web-1', world.clock.stamp());
  world.client.seed(nodeClaims, claim);
  world.client.seed(nodes, node);
}

const look = () => controller.reconcile('web-1');
const claimNow = (): NodeClaim | undefined => world.client.peek(nodeClaims, { name: 'web-1' });
const isConsolidatable = (): boolean => isTrue(claimNow()?.status?.conditions, 'Consolidatable');

/** What kube-scheduler does. */
function bind(name: string): void {
  const unbound = world.client.seed(pods, pod(name));
  world.client.seed(pods, { ...unbound, spec: { containers: [], nodeName: 'web-1' } });
}

test('a machine becomes consolidatable consolidateAfter after it came', async () => {
  seedMachine();
  expect(await look()).toEqual({ requeueAfter: seconds(30) });
  expect(isConsolidatable()).toBe(false);
  await world.clock.forward(seconds(30));
  await look();
  expect(isConsolidatable()).toBe(true);
});

test('a Pod that comes starts the time again, and is told on the claim', async () => {
  seedMachine();
  await world.clock.forward(seconds(30));
  await look();
  bind('cart-0');
  expect(await look()).toEqual({ requeueAfter: seconds(30) });
  expect(isConsolidatable()).toBe(false);
  expect(claimNow()?.status?.lastPodEventTime).toBe(world.clock.stamp());
});

test('so does a Pod that begins to leave, or has done its work', async () => {
  seedMachine();
  bind('job-0');
  await look();
  await world.clock.forward(seconds(20));
  const running = world.client.peek(pods, { namespace: 'shop', name: 'job-0' });
  world.client.seed(pods, { ...running, status: { phase: 'Succeeded' } });
  expect(await look()).toEqual({ requeueAfter: seconds(30) });
});

test('a DaemonSet Pod changes nothing', async () => {
  seedMachine();
  await world.clock.forward(seconds(30));
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u' };
  const metadata = { name: 'agent-x', ownerReferences: [owner] };
  const unbound = world.client.seed(pods, pod('agent-x', { metadata }));
  world.client.seed(pods, { ...unbound, spec: { containers: [], nodeName: 'web-1' } });
  await look();
  expect(isConsolidatable()).toBe(true);
  expect(claimNow()?.status?.lastPodEventTime).toBeUndefined();
});

test('the Pods that a machine was made for are told together, once they have come', async () => {
  seedMachine();
  bind('a');
  expect(await look()).toEqual({ requeueAfter: seconds(10) });
  await world.clock.forward(seconds(3));
  bind('b');
  const last = world.clock.stamp();
  expect(await look()).toEqual({ requeueAfter: seconds(7) });
  expect(world.client.writes).toEqual([]);
  await world.clock.forward(seconds(7));
  await look();
  expect(claimNow()?.status?.lastPodEventTime).toBe(last);
});

test('many Pods that come and go cost one write in ten seconds, and none is forgotten', async () => {
  seedMachine();
  await world.clock.forward(seconds(10));
  bind('a');
  await look();
  const first = claimNow()?.status?.lastPodEventTime;
  const writes = world.client.writes.length;
  await world.clock.forward(seconds(4));
  bind('b');
  expect(await look()).toEqual({ requeueAfter: seconds(6) });
  expect(claimNow()?.status?.lastPodEventTime).toBe(first);
  expect(world.client.writes).toHaveLength(writes);
  const second = world.clock.stamp();
  await world.clock.forward(seconds(6));
  await look();
  expect(claimNow()?.status?.lastPodEventTime).toBe(second);
});

test('after a restart, Pods that are there tell when they were bound', async () => {
  seedMachine();
  await world.clock.forward(seconds(25));
  const bound = {
    type: 'PodScheduled',
    status: 'True',
    lastTransitionTime: world.clock.stamp(),
  } as const;
  world.client.seed(
    pods,
    pod('cart-0', { spec: { containers: [], nodeName: 'web-1' }, status: { conditions: [bound] } }),
  );
  controller = new Consolidatable(world.context, new PodActivity(world.context));
  await world.clock.forward(seconds(10));
  expect(await look()).toEqual({ requeueAfter: seconds(20) });
});

test('nothing is written before the claim is initialised', async () => {
  world.client.seed(nodeClaims, nodeClaim('web-1'));
  bind('early');
  await look();
  expect(world.client.writes).toEqual([]);
});

test.each([
  ['Never', nodePool({ disruption: { consolidateAfter: 'Never' } })],
  ['a static pool', nodePool({ replicas: 2 })],
  ['what cannot be read', nodePool({ disruption: { consolidateAfter: 'soon' } })],
])('%s is never consolidatable', async (_, pool) => {
  world.client.seed(nodePools, pool);
  seedMachine();
  await world.clock.forward(seconds(1000));
  await look();
  expect(isConsolidatable()).toBe(false);
});
