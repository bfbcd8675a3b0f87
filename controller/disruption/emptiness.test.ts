import { beforeEach, describe, expect, test } from 'vitest';

import { getCondition } from '#kube/conditions.ts';
import { Metrics } from '#kube/metrics.ts';
import { nodeClaims, nodePools, type Budget } from '#schemas/karpenter/types.ts';
import { nodes, pods, statefulSets } from '#schemas/kubernetes/resource.ts';
import { annotations, labels, taints } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { memoryContext } from '../testing/context.ts';
import { condition, foreignRef, nodePool, pod, runningMachine } from '../testing/objects.ts';
import { Emptiness } from './emptiness.ts';
import { DisruptionMetrics } from './metrics.ts';
import { PodActivity } from './pod-activity.ts';
import { Removals } from './removals.ts';

let world: ReturnType<typeof memoryContext>;
let metrics: Metrics;
let controller: Emptiness;
/** Pods that the provisioner has planned, by claim. */
let planned: Map<string, string[]>;
const signal = new AbortController().signal;

beforeEach(() => {
  world = memoryContext();
  metrics = new Metrics();
  planned = new Map();
  controller = start();
  seedPool([{ nodes: '100%' }]);
});

/** A new process over the same cluster. */
function start(): Emptiness {
  const counted = new DisruptionMetrics(metrics);
  return new Emptiness(world.context, {
    activity: new PodActivity(world.context),
    removals: new Removals(world.context, counted, { wait: seconds(2) }),
    metrics: counted,
    plannedFor: (claim) => planned.get(claim) ?? [],
  });
}

function seedPool(budgets: Budget[]): void {
  world.client.seed(nodePools, nodePool({ disruption: { consolidateAfter: '5s', budgets } }));
}

function seedMachine(name: string, more: { annotations?: Record<string, string> } = {}): void {
  const { claim, node } = runningMachine(name, world.clock.stamp());
  world.client.seed(nodeClaims, claim);
  world.client.seed(nodes, { ...node, metadata: { ...node.metadata, ...more } });
}

function bind(name: string, node: string, metadata = {}): void {
  const unbound = world.client.seed(
    pods,
    pod(name, { metadata: { name, namespace: 'shop', ...metadata } }),
  );
  world.client.seed(pods, { ...unbound, spec: { containers: [], nodeName: node } });
}

const pass = () => controller.reconcile('web', signal);
const isClosed = (name: string): boolean =>
  (world.client.peek(nodes, { name })?.spec?.taints ?? []).some(
    ({ key }) => key === taints.disrupted.key,
  );
const isLeaving = (name: string): boolean =>
  world.client.peek(nodeClaims, { name })?.metadata.deletionTimestamp !== undefined;
const reasonOn = (name: string): string | undefined =>
  getCondition(world.client.peek(nodeClaims, { name })?.status?.conditions, 'DisruptionReason')
    ?.reason;
const told = (reason: string): string[] =>
  world.notes.filter((note) => note.reason === reason).map(({ message }) => message);

test('an empty machine is closed, looked at once more, and only then removed', async () => {
  seedMachine('web-1');
  await world.clock.forward(seconds(5));
  expect(await pass()).toEqual({ requeueAfter: seconds(2) });
  expect(isClosed('web-1')).toBe(true);
  expect(reasonOn('web-1')).toBe('Empty');
  expect(isLeaving('web-1')).toBe(false);

  await world.clock.forward(seconds(2));
  await pass();
  expect(isLeaving('web-1')).toBe(true);
  expect(told('DisruptionTerminating')).toEqual(['Disrupting: Empty', 'Disrupting: Empty']);
  const text = await metrics.text();
  expect(text).toMatch(/nodeclaims_disrupted_total\{.*reason="empty".*nodepool="web".*\} 1/);
});

test('a pass after the removal does nothing more, even before the cache shows it', async () => {
  seedMachine('web-1');
  await world.clock.forward(seconds(5));
  await pass();
  world.caches.nodeClaims.fallBehind();
  await world.clock.forward(seconds(2));
  await pass();
  const writes = world.client.writes.length;
  await pass();
  expect(world.client.writes).toHaveLength(writes);
  world.caches.nodeClaims.catchUp();
  await pass();
  expect(world.client.writes).toHaveLength(writes);
});

describe('a Pod that comes while the machine is being removed', () => {
  beforeEach(async () => {
    seedMachine('web-1');
    await world.clock.forward(seconds(5));
    await pass();
  });

  test('keeps it: the Node is opened again and nothing is deleted', async () => {
    bind('cart-0', 'web-1');
    await world.clock.forward(seconds(2));
    await pass();
    expect(isClosed('web-1')).toBe(false);
    expect(reasonOn('web-1')).toBeUndefined();
    expect(isLeaving('web-1')).toBe(false);
    expect(told('ConsolidationRejected')).toHaveLength(2);
    expect(world.client.peek(nodes, { name: 'web-1' })?.spec?.taints).toEqual([taints.kraftlet]);
  });

  test('keeps it although the cache has not shown the Pod yet', async () => {
    world.caches.pods.fallBehind();
    bind('cart-0', 'web-1');
    await world.clock.forward(seconds(2));
    await pass();
    expect(isLeaving('web-1')).toBe(false);
    expect(isClosed('web-1')).toBe(false);
    expect(told('ConsolidationRejected')[0]).toContain('shop/cart-0');
  });

  test('keeps it when it is only planned', async () => {
    planned.set('web-1', ['shop/cart-0']);
    await world.clock.forward(seconds(2));
    await pass();
    expect(isLeaving('web-1')).toBe(false);
    expect(isClosed('web-1')).toBe(false);
  });
});

test('after a restart in between, the Node is opened and the choice is made anew', async () => {
  seedMachine('web-1');
  await world.clock.forward(seconds(5));
  await pass();
  planned.set('web-1', ['shop/cart-0']);
  controller = start();
  await pass();
  expect(isClosed('web-1')).toBe(false);
  expect(reasonOn('web-1')).toBeUndefined();
});

describe('a machine stays', () => {
  async function isKept(): Promise<boolean> {
    await world.clock.forward(seconds(60));
    await pass();
    return !isClosed('web-1');
  }

  test('while a Pod is on it', async () => {
    seedMachine('web-1');
    bind('cart-0', 'web-1');
    expect(await isKept()).toBe(true);
    expect(told('DisruptionBlocked')).toEqual([]);
  });

  test('while a Pod ends on it', async () => {
    seedMachine('web-1');
    bind('cart-0', 'web-1', { deletionTimestamp: world.clock.stamp(), finalizers: ['x'] });
    expect(await isKept()).toBe(true);
  });

  test('before consolidateAfter has passed', async () => {
    seedMachine('web-1');
    await world.clock.forward(seconds(4));
    await pass();
    expect(isClosed('web-1')).toBe(false);
  });

  test('while a Pod is nominated for its Node', async () => {
    seedMachine('web-1');
    world.client.seed(
      pods,
      pod('big-0', { status: { phase: 'Pending', nominatedNodeName: 'web-1' } }),
    );
    expect(await isKept()).toBe(true);
  });

  test('when its Node asks for it, and says so', async () => {
    seedMachine('web-1', { annotations: { [annotations.doNotDisrupt]: 'true' } });
    expect(await isKept()).toBe(true);
    expect(told('DisruptionBlocked')[0]).toContain('KPU401');
  });

  test('when a DaemonSet Pod on it asks for it', async () => {
    seedMachine('web-1');
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u' };
    const asks = { [annotations.doNotDisrupt]: 'true' };
    bind('agent-x', 'web-1', { ownerReferences: [owner], annotations: asks });
    expect(await isKept()).toBe(true);
    expect(told('DisruptionBlocked')[0]).toContain('shop/agent-x');
  });

  test("when it is another provider's", async () => {
    const { claim, node } = runningMachine('web-1', world.clock.stamp());
    world.client.seed(nodeClaims, { ...claim, spec: { ...claim.spec, nodeClassRef: foreignRef } });
    world.client.seed(nodes, node);
    expect(await isKept()).toBe(true);
    expect(world.client.writes).toEqual([]);
  });
});

test('DaemonSet Pods and Pods that are done do not keep a machine', async () => {
  seedMachine('web-1');
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u' };
  bind('agent-x', 'web-1', { ownerReferences: [owner] });
  bind('job-0', 'web-1');
  const done = world.client.peek(pods, { namespace: 'shop', name: 'job-0' });
  world.client.seed(pods, { ...done, status: { phase: 'Succeeded' } });
  await world.clock.forward(seconds(5));
  await pass();
  expect(isClosed('web-1')).toBe(true);
});

describe('a Pod that should have ended', () => {
  /** Its end is now. */
  const ending = () => ({ deletionTimestamp: world.clock.stamp(), finalizers: ['x'] });
  const kraftlet = (readyReplicas: number) => {
    const uid = world.client.peek(nodeClaims, { name: 'web-1' })?.metadata.uid ?? '';
    const metadata = { name: 'web-1', namespace: 'kraftlet', labels: { [labels.claimUid]: uid } };
    world.client.seed(statefulSets, { metadata, status: { readyReplicas } });
  };
  const sicken = () => {
    const node = world.client.peek(nodes, { name: 'web-1' });
    world.client.seed(nodes, { ...node, status: { conditions: [condition('Ready', 'Unknown')] } });
  };

  test.each([
    ['no Kraftlet', undefined],
    ['a Kraftlet that does not run', 0],
  ])('keeps a machine with %s for a minute, and is no guest then', async (_, replicas) => {
    seedMachine('web-1');
    if (replicas !== undefined) kraftlet(replicas);
    bind('cart-0', 'web-1', ending());
    sicken();
    seedPool([{ nodes: '10%' }]);
    await world.clock.forward(seconds(60));
    expect(await pass()).toEqual({ requeueAfter: seconds(10) });
    expect(isClosed('web-1')).toBe(false);

    await world.clock.forward(seconds(10));
    await pass();
    expect(isClosed('web-1')).toBe(true);
    await world.clock.forward(seconds(2));
    await pass();
    expect(isLeaving('web-1')).toBe(true);
  });

  test('keeps a machine whose Kraftlet runs, however long', async () => {
    seedMachine('web-1');
    kraftlet(1);
    bind('cart-0', 'web-1', ending());
    await world.clock.forward(seconds(3600));
    await pass();
    expect(isClosed('web-1')).toBe(false);
  });

  test('is looked at again only where nobody else is', async () => {
    seedMachine('web-1');
    bind('cart-0', 'web-1', ending());
    bind('cart-1', 'web-1');
    await world.clock.forward(seconds(3600));
    expect(await pass()).toEqual({});
    expect(isClosed('web-1')).toBe(false);
  });
});

describe('budgets', () => {
  const names = ['web-1', 'web-2', 'web-3', 'web-4'];
  const closed = (): string[] => names.filter(isClosed);

  test('let that many go at once, and the rest when there is room again', async () => {
    seedPool([{ nodes: '2' }]);
    names.forEach((name) => seedMachine(name));
    await world.clock.forward(seconds(5));
    await pass();
    expect(closed()).toHaveLength(2);
    expect(told('DisruptionBlocked')[0]).toContain('KPU403');
    await world.clock.forward(seconds(2));
    await pass();
    expect(names.filter(isLeaving)).toHaveLength(2);
    expect(closed()).toHaveLength(2); // those that are leaving still use the budget
    for (const name of names.filter(isLeaving)) world.client.remove(nodeClaims, { name });
    await pass();
    expect(closed()).toHaveLength(4);
  });

  test('count machines that are not ready', async () => {
    seedPool([{ nodes: '1' }]);
    seedMachine('web-1');
    seedMachine('web-2');
    bind('cart-0', 'web-2');
    const sick = world.client.peek(nodes, { name: 'web-2' });
    world.client.seed(nodes, { ...sick, status: { conditions: [condition('Ready', 'Unknown')] } });
    await world.clock.forward(seconds(60));
    await pass();
    expect(closed()).toEqual([]);
  });

  test('are used by an empty machine that is not ready, but not against itself', async () => {
    seedPool([{ nodes: '1' }]);
    for (const name of ['web-1', 'web-2']) seedMachine(name);
    const sick = world.client.peek(nodes, { name: 'web-2' });
    world.client.seed(nodes, { ...sick, status: { conditions: [condition('Ready', 'Unknown')] } });
    await world.clock.forward(seconds(60));
    await pass();
    expect(closed()).toEqual(['web-2']);
  });

  test('of zero hold everything, and the pool says why', async () => {
    seedPool([{ nodes: '0', reasons: ['Empty'] }]);
    seedMachine('web-1');
    await world.clock.forward(seconds(60));
    expect(await pass()).toEqual({ requeueAfter: seconds(10) });
    expect(closed()).toEqual([]);
    expect(world.notes.map(({ object }) => object.metadata?.name)).toEqual(['web']);
  });
});

test('a Node that somebody else writes at the same time is taken up again a second later', async () => {
  seedMachine('web-1');
  await world.clock.forward(seconds(5));
  world.caches.nodes.fallBehind();
  const node = world.client.peek(nodes, { name: 'web-1' });
  world.client.seed(nodes, {
    ...node,
    metadata: { ...node?.metadata, labels: node?.metadata.labels ?? {} },
  });
  expect(await pass()).toEqual({ requeueAfter: seconds(1) });
  expect(isClosed('web-1')).toBe(false);
  world.caches.nodes.catchUp();
  await world.clock.forward(seconds(1));
  expect(reasonOn('web-1')).toBe('Empty');
  await pass(); // takes back what was said on the claim
  expect(reasonOn('web-1')).toBeUndefined();
  await pass(); // and begins anew
  expect(reasonOn('web-1')).toBe('Empty');
  expect(isClosed('web-1')).toBe(true);
});
