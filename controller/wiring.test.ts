import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { getCondition } from '#kube/conditions.ts';
import { Metrics } from '#kube/metrics.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import { nodes, pods, secrets } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { disruptionControllers } from './disruption/wiring.ts';
import { nodeClassController } from './nodeclass/wiring.ts';
import { nodePoolController } from './nodepool/wiring.ts';
import { acmeOf } from './testing/certificates.ts';
import { memoryContext } from './testing/context.ts';
import { FakeClouds } from './testing/fake-clouds.ts';
import { nodeClass, nodeClaim, nodePool, pod, runningMachine } from './testing/objects.ts';

/** Controllers with their own queues, over an API in memory: nobody calls reconcile here, so a watch that is missing shows. */
let world: ReturnType<typeof memoryContext>;
let clouds: FakeClouds;
let stop: AbortController;
let running: Promise<unknown>;

beforeEach(() => {
  world = memoryContext();
  clouds = new FakeClouds();
  stop = new AbortController();
  const metrics = new Metrics();
  const controllers = [
    nodeClassController(
      world.context,
      { clouds, releases: clouds.releases, acme: acmeOf(world.context) },
      metrics,
    ),
    nodePoolController(world.context, {}, metrics),
    ...disruptionControllers(world.context, { plannedFor: () => [] }, metrics),
  ];
  running = Promise.all(controllers.map(async (each) => each.run(stop.signal)));
});

afterEach(async () => {
  stop.abort();
  await running;
});

const classNow = () => world.client.peek(unikraftNodeClasses, { name: 'default' });
/** Applies a node class and waits until it was looked at: keys are made in real time, whatever the clock says. */
async function expectLookedAt(spec: Parameters<typeof nodeClass>[0] = {}): Promise<void> {
  await world.client.create(unikraftNodeClasses, nodeClass(spec));
  await vi.waitFor(() => expect(classNow()?.status?.conditions).toBeDefined());
}
const poolNow = () => world.client.peek(nodePools, { name: 'web' });
const isPoolReady = (): boolean =>
  getCondition(poolNow()?.status?.conditions, 'Ready')?.status === 'True';

test('a pool and a node class find each other, in whatever order they come', async () => {
  await world.client.create(nodePools, nodePool());
  await world.clock.forward(seconds(1));
  expect(isPoolReady()).toBe(false);
  await expectLookedAt();
  await world.clock.forward(seconds(2));
  expect(isPoolReady()).toBe(true);
  expect(classNow()?.status?.observedGeneration).toBe(1);
});

test('a Secret that comes after its node class makes it Ready within seconds', async () => {
  const platform = { activationSecretRef: { name: 'activation', key: 'token' } };
  await expectLookedAt({ platform });
  await world.clock.forward(minutes(3));
  const metadata = { name: 'activation', namespace: world.namespace };
  await world.client.create(secrets, { metadata, data: { token: btoa('x') } });
  await world.clock.forward(seconds(6));
  expect(getCondition(classNow()?.status?.conditions, 'Ready')?.status).toBe('True');
});

test('a node class that is deleted goes with its last claim', async () => {
  await expectLookedAt();
  world.client.seed(nodeClaims, nodeClaim('web-1'));
  await world.clock.forward(seconds(1));
  expect(classNow()?.status?.machines).toBe(1);
  await world.client.delete(unikraftNodeClasses, { name: 'default' });
  await world.clock.forward(seconds(1));
  expect(getCondition(classNow()?.status?.conditions, 'Deleting')?.message).toContain('web-1');
  world.client.remove(nodeClaims, { name: 'web-1' });
  await world.clock.forward(seconds(1));
  expect(classNow()).toBeUndefined();
});

test('a machine is counted, serves its Pod, and goes some seconds after the Pod has gone', async () => {
  const disruption = { consolidateAfter: '5s', budgets: [{ nodes: '100%' }] };
  await world.client.create(nodePools, nodePool({ disruption }));
  const { claim, node } = runningMachine('web-1', world.clock.stamp());
  world.client.seed(nodeClaims, claim);
  world.client.seed(nodes, node);
  const unbound = world.client.seed(pods, pod('cart-0'));
  world.client.seed(pods, { ...unbound, spec: { containers: [], nodeName: 'web-1' } });
  await world.clock.forward(minutes(2));
  expect(poolNow()?.status).toMatchObject({ nodes: 1, resources: { cpu: '6' } });
  expect(isLeaving()).toBe(false);

  world.client.remove(pods, { namespace: 'shop', name: 'cart-0' });
  await world.clock.forward(seconds(4));
  expect(isLeaving()).toBe(false);
  await world.clock.forward(seconds(6));
  expect(isLeaving()).toBe(true);

  function isLeaving(): boolean {
    const live = world.client.peek(nodeClaims, { name: 'web-1' });
    return live?.metadata.deletionTimestamp !== undefined;
  }
});

test('a world at rest is written to by nobody', async () => {
  await expectLookedAt();
  await world.client.create(nodePools, nodePool());
  const { claim, node } = runningMachine('web-1', world.clock.stamp());
  world.client.seed(nodeClaims, claim);
  world.client.seed(nodes, node);
  const unbound = world.client.seed(pods, pod('cart-0'));
  world.client.seed(pods, { ...unbound, spec: { containers: [], nodeName: 'web-1' } });
  await world.clock.forward(minutes(2));
  const { length } = world.client.writes;
  await world.clock.forward(minutes(20));
  expect(world.client.writes).toHaveLength(length);
});
