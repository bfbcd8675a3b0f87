import { beforeEach, describe, expect, test } from 'vitest';

import { nodeClaims } from '#schemas/karpenter/types.ts';
import type { Pod, PodDisruptionBudget } from '#schemas/kubernetes/core.ts';
import { nodes, podDisruptionBudgets, pods } from '#schemas/kubernetes/resource.ts';
import { annotations, taints } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';

import { memoryContext } from '../../testing/context.ts';
import { condition, nodeClaim, pod, providerIDOf, runningMachine } from '../../testing/objects.ts';
import { Slices } from '../slices.ts';
import { sortPods } from '../sorted-pods.ts';
import { LeavingPods } from './leaving-pods.ts';

let world: ReturnType<typeof memoryContext>;
beforeEach(() => {
  world = memoryContext();
});

const find = async () => {
  const { placed } = await sortPods(world.caches.pods.list(), new Slices());
  const leaving = new LeavingPods(world.context);
  return leaving.find(world.caches.nodeClaims.list(), placed, new Slices());
};

const names = async () => (await find()).pods.map(({ metadata }) => metadata.name);

type Going = 'claim' | 'node' | 'instance' | 'nothing';

/** A machine that is being deleted: by its claim, its Node, or as its instance ends. */
function seedMachine(name: string, going: Going = 'claim'): void {
  const { claim, node } = runningMachine(name, world.clock.stamp());
  const deleted = { deletionTimestamp: world.clock.stamp(), finalizers: ['x'] };
  const ending = condition('InstanceTerminating');
  world.client.seed(nodeClaims, {
    ...claim,
    metadata: { ...claim.metadata, ...(going === 'claim' && deleted) },
    status: {
      ...claim.status,
      conditions: [...(claim.status?.conditions ?? []), ...(going === 'instance' ? [ending] : [])],
    },
  });
  const metadata = { ...node.metadata, ...(going === 'node' && deleted) };
  world.client.seed(nodes, { ...node, metadata });
}

function seedPod(name: string, parts: Partial<Pod> = {}, on = 'old'): void {
  const spec = { containers: [{ name: 'main' }], ...parts.spec, nodeName: on };
  world.client.seed(pods, pod(name, { ...parts, spec }));
}

function seedBudget(name: string, spec: PodDisruptionBudget['spec']): void {
  const selector = { matchLabels: { app: 'web' } };
  const metadata = { namespace: 'shop', name };
  world.client.seed(podDisruptionBudgets, { metadata, spec: { selector, ...spec } });
}

const meta = (metadata: Pod['metadata']): Partial<Pod> => ({ metadata: metadata ?? {} });
const ownedBy = (kind: string, apiVersion = 'apps/v1') => ({
  ownerReferences: [{ apiVersion, kind, name: 'x', uid: 'x' }],
});
const ending = () => ({ deletionTimestamp: world.clock.stamp(), finalizers: ['kraftlet'] });
const web = meta({ labels: { app: 'web' } });

describe('K37: a Pod on a Node that is being deleted', () => {
  test.each<[Going]>([['claim'], ['node'], ['instance']])(
    'moves, whatever of the machine was deleted (%s)',
    async (going) => {
      seedMachine('old', going);
      seedPod('a');
      expect(await names()).toEqual(['a']);
    },
  );

  test('is one of a Node of ours, and of one that goes', async () => {
    seedMachine('stays', 'nothing');
    seedPod('a', {}, 'stays');
    const metadata = { name: 'theirs', ...ending() };
    world.client.seed(nodes, { metadata, spec: { providerID: 'aws:///i-1' } });
    seedPod('b', {}, 'theirs');
    world.client.seed(nodeClaims, { ...nodeClaim('unborn'), status: {} });
    expect(await find()).toEqual({ pods: [], isToBeSeenAgain: false });
  });

  test('is found by the provider ID of its machine where the claim does not name the Node', async () => {
    seedMachine('old');
    const claim = world.client.peek(nodeClaims, { name: 'old' })!;
    world.client.seed(nodeClaims, { ...claim, status: { providerID: providerIDOf('old') } });
    seedPod('a');
    expect(await names()).toEqual(['a']);
  });

  test('moves while it ends only if it is one of a StatefulSet', async () => {
    seedMachine('old');
    seedPod('ends', meta({ ...ending(), ...ownedBy('ReplicaSet') }));
    seedPod('db-0', meta({ ...ending(), ...ownedBy('StatefulSet') }));
    seedPod('kruise-0', meta({ ...ending(), ...ownedBy('StatefulSet', 'apps.kruise.io/v1') }));
    seedPod('db-1', meta(ownedBy('StatefulSet')));
    expect(await names()).toEqual(['db-0', 'db-1']);
  });

  test('is none of the Node itself, and none that is over', async () => {
    seedMachine('old');
    seedPod('agent', meta(ownedBy('DaemonSet')));
    seedPod('static', meta(ownedBy('Node', 'v1')));
    seedPod('mirror', meta({ annotations: { 'kubernetes.io/config.mirror': 'x' } }));
    seedPod('done', { status: { phase: 'Succeeded' } });
    seedPod('failed', { status: { phase: 'Failed' } });
    expect(await find()).toEqual({ pods: [], isToBeSeenAgain: false });
  });

  test('stays as long as it asks to, and is looked at again', async () => {
    seedMachine('old');
    const bound = condition('PodScheduled', 'True', { lastTransitionTime: world.clock.stamp() });
    const status = { phase: 'Running', conditions: [bound] };
    const asking = (text: string) => meta({ annotations: { [annotations.doNotDisrupt]: text } });
    seedPod('always', { ...asking('true'), status });
    seedPod('a-while', { ...asking('5m'), status });
    expect(await find()).toEqual({ pods: [], isToBeSeenAgain: true });
    await world.clock.forward(minutes(5));
    expect(await names()).toEqual(['a-while']);
  });

  test.each<[string, PodDisruptionBudget['spec'], boolean]>([
    ['maxUnavailable 0', { maxUnavailable: 0 }, true],
    ['maxUnavailable 0%', { maxUnavailable: '0%' }, true],
    ['minAvailable 100%', { minAvailable: '100%' }, true],
    ['maxUnavailable 1', { maxUnavailable: 1 }, false],
    ['maxUnavailable 10%', { maxUnavailable: '10%' }, false],
    ['minAvailable 1, which only may allow none now', { minAvailable: 1 }, false],
  ])('is held, or not, by a budget with %s', async (_, spec, isHeld) => {
    seedMachine('old');
    seedPod('a', web);
    seedPod('other', meta({ labels: { app: 'other' } }));
    seedBudget('web', spec);
    expect(await names()).toEqual(isHeld ? ['other'] : ['a', 'other']);
    expect((await find()).isToBeSeenAgain).toBe(true);
  });

  test('is held by two budgets, which the API server lets nobody be evicted by', async () => {
    seedMachine('old');
    seedPod('a', web);
    seedBudget('one', { maxUnavailable: 1 });
    seedBudget('two', { maxUnavailable: 1 });
    expect(await names()).toEqual([]);
  });

  test('is held by no budget of another namespace, and by none without a selector', async () => {
    seedMachine('old');
    seedPod('a', web);
    const spec = { maxUnavailable: 0 };
    const selector = { matchLabels: { app: 'web' } };
    world.client.seed(podDisruptionBudgets, {
      metadata: { namespace: 'elsewhere', name: 'web' },
      spec: { ...spec, selector },
    });
    world.client.seed(podDisruptionBudgets, { metadata: { namespace: 'shop', name: 'x' }, spec });
    expect(await names()).toEqual(['a']);
  });

  test('is held by none where it is not evicted: it ends with its machine, or ends already', async () => {
    seedMachine('old');
    seedBudget('web', { maxUnavailable: 0 });
    const toleration = { key: taints.disrupted.key, operator: 'Exists' as const };
    seedPod('tolerates', { ...web, spec: { containers: [], tolerations: [toleration] } });
    const metadata = { labels: { app: 'web' }, ...ending(), ...ownedBy('StatefulSet') };
    seedPod('db-0', { metadata });
    expect(await names()).toEqual(['tolerates', 'db-0']);
  });
});
