/** Machines that go while Pods are on them, over many passes. Numbers: docs/reference/karpenter-behaviour.md. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { Metrics } from '#kube/metrics.ts';
import { solve } from '#scheduling/solve.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live, OwnerReference } from '#schemas/kubernetes/meta.ts';
import { nodes, podDisruptionBudgets, pods } from '#schemas/kubernetes/resource.ts';
import { labels, taints } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import type { Solver } from './solver.ts';
import { nodeClassRef, World } from './testing/world.ts';

const window = seconds(2);
let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

const running = { phase: 'Running', conditions: [] };

/** A machine of 4 vCPUs that has long been there. */
function seedMachine(name: string): Live<NodeClaim> {
  const metadata = { name, labels: { [labels.nodePool]: 'web', [labels.nodeClass]: 'default' } };
  const spec = { nodeClassRef, requirements: [] };
  const claim = world.client.seed(nodeClaims, { metadata, spec });
  world.seedNode(claim);
  world.becomes(claim, 'Registered', 'Initialized');
  return claim;
}

function startDeleting(name: string): void {
  const claim = world.client.peek(nodeClaims, { name })!;
  const metadata = { ...claim.metadata, deletionTimestamp: world.clock.stamp(), finalizers: ['x'] };
  world.client.seed(nodeClaims, { ...claim, metadata });
}

/** A Pod of three vCPUs, of which a machine of four has one. */
function seedGuest(name: string, on: string, parts: Partial<Pod> = {}): void {
  world.seedPod(name, { cpu: '3' }, { spec: { nodeName: on, ...parts.spec }, status: running });
}

function startEnding(name: string, owner: Partial<OwnerReference> = {}): void {
  const pod = world.pod(`shop/${name}`);
  const own = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'x', ...owner };
  const metadata = {
    ...pod.metadata,
    ownerReferences: [own],
    deletionTimestamp: world.clock.stamp(),
    finalizers: ['kraftlet'],
  };
  world.client.seed(pods, { ...pod, metadata });
}

const remove = (name: string): void => world.client.remove(pods, { namespace: 'shop', name });
const others = (): Live<NodeClaim>[] =>
  world.claims.filter(({ metadata }) => metadata.name !== 'old');
/** The machine that was made, and no second one. */
function onlyOne(): Live<NodeClaim> {
  expect(others()).toHaveLength(1);
  return others()[0]!;
}

function opens(claim: Live<NodeClaim>): void {
  world.becomes(claim, 'Registered', 'Initialized');
  world.seedNode(claim);
}

describe('Pods of a machine that is being deleted', () => {
  beforeEach(() => {
    world.seedPool('web');
    seedMachine('old');
  });

  test('K7: get one machine together before they are evicted, and hear nothing of it', async () => {
    const metrics = new Metrics();
    world.start({}, { metrics });
    world.seedPod('a', { cpu: '1' }, { spec: { nodeName: 'old' }, status: running });
    world.seedPod('b', { cpu: '1' }, { spec: { nodeName: 'old' }, status: running });
    await world.clock.forward(minutes(1));
    expect(others()).toEqual([]);

    startDeleting('old');
    await world.clock.forward(minutes(1));

    expect(onlyOne().spec.resources?.requests).toMatchObject({ cpu: '2', pods: '2' });
    expect(world.notes.filter(({ object }) => object.metadata?.namespace === 'shop')).toEqual([]);
    const text = await metrics.text();
    expect(text).toContain(
      'karpenter_scheduler_unschedulable_pods_count{controller="provisioner"} 0',
    );
    expect(text).not.toContain('pending_pods_by_effective_zone_count{');
    expect(text).not.toContain('karpenter_pods_scheduling_decision_duration_seconds_count');
  });

  test('K7: are followed by others under new names, and no second machine comes', async () => {
    const { nominations } = world.start();
    seedGuest('web-a', 'old');
    startDeleting('old');
    await world.clock.forward(window);
    const claim = onlyOne();

    startEnding('web-a');
    const key = world.seedPod('web-b', { cpu: '3' });
    await world.clock.forward(window);
    expect(nominations.claimOf(world.pod(key))).toBe(claim.metadata.name);
    await world.clock.forward(seconds(30));
    remove('web-a');
    await world.clock.forward(seconds(30));

    expect(onlyOne()).toMatchObject({ metadata: { name: claim.metadata.name } });
    expect(nominations.podsOf(claim.metadata.name)).toEqual([key]);
  });

  test('K37: of a StatefulSet come again under the same name, and it is theirs', async () => {
    const { nominations } = world.start();
    seedGuest('db-0', 'old');
    startDeleting('old');
    startEnding('db-0', { kind: 'StatefulSet' });
    const before = world.pod('shop/db-0');
    await world.clock.forward(window);
    const claim = onlyOne();
    expect(nominations.claimOf(before)).toBeUndefined(); // it is bound: nobody can nominate it

    remove('db-0');
    world.seedPod('db-0', { cpu: '3' });
    await world.clock.forward(minutes(1));

    expect(onlyOne().metadata.name).toBe(claim.metadata.name);
    expect(nominations.claimOf(world.pod('shop/db-0'))).toBe(claim.metadata.name);
  });

  test('K7: keep room on the machine after it has opened, however long they cannot be evicted', async () => {
    const { nominations, backedOff } = world.start();
    seedGuest('web-a', 'old');
    startDeleting('old');
    await world.clock.forward(window);
    const claim = onlyOne();
    opens(claim);

    await world.clock.forward(minutes(30));
    expect(onlyOne().metadata.name).toBe(claim.metadata.name);
    expect(nominations.podsOf(claim.metadata.name)).toEqual(['shop/web-a']); // so it is not empty
    expect(backedOff.conditionsOf(world.seedPool('web'))).toEqual([]);

    startEnding('web-a');
    world.seedPod(
      'web-b',
      { cpu: '3' },
      { spec: { nodeName: claim.metadata.name }, status: running },
    );
    remove('web-a');
    await world.clock.forward(minutes(1));
    expect(nominations.podsOf(claim.metadata.name)).toEqual([]);
    expect(others()).toHaveLength(1);
  });

  test('K7: get another machine when somebody else has taken their room', async () => {
    world.start();
    seedGuest('web-a', 'old');
    startDeleting('old');
    await world.clock.forward(window);
    const claim = onlyOne();
    opens(claim);
    seedGuest('thief', claim.metadata.name);
    await world.clock.forward(minutes(5));
    expect(others()).toHaveLength(2);
  });

  test('K7: are planned for anew by a leader that remembers nothing', async () => {
    const before = world.start();
    seedGuest('web-a', 'old');
    startDeleting('old');
    await world.clock.forward(window);
    before.kill();
    const { nominations } = world.start();
    await world.clock.forward(minutes(1));
    expect(nominations.podsOf(onlyOne().metadata.name)).toEqual(['shop/web-a']);
  });

  test('K7: find room that there is, and their old node is none', async () => {
    world.start();
    seedMachine('free');
    world.seedPod('a', { cpu: '1' }, { spec: { nodeName: 'old' }, status: running });
    startDeleting('old');
    await world.clock.forward(minutes(1));
    expect(world.claims.map(({ metadata }) => metadata.name).toSorted()).toEqual(['free', 'old']);
  });

  test('K37: that a budget holds for good get none, until it lets go', async () => {
    world.start();
    seedGuest('web-a', 'old');
    const budget = (maxUnavailable: number) => ({
      metadata: { namespace: 'shop', name: 'all' },
      spec: { selector: {}, maxUnavailable },
    });
    world.client.seed(podDisruptionBudgets, budget(0));
    startDeleting('old');
    await world.clock.forward(minutes(1));
    expect(others()).toEqual([]);

    world.client.seed(podDisruptionBudgets, budget(1));
    await world.clock.forward(seconds(15));
    expect(others()).toHaveLength(1);
  });

  test('K7: whose machines are tainted one after the other get three, then none for a while', async () => {
    world.start();
    seedGuest('web-a', 'old');
    startDeleting('old');
    const seen = new Set<string>();
    for (let round = 0; round < 12; round++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await world.clock.forward(seconds(12));
      for (const claim of others().filter(({ metadata }) => !seen.has(metadata.name))) {
        seen.add(claim.metadata.name);
        opens(claim);
        const node = world.client.peek(nodes, { name: claim.metadata.name })!;
        const taint = { key: 'somebody', effect: 'NoSchedule' } as const;
        world.client.seed(nodes, {
          ...node,
          spec: { ...node.spec, taints: [taints.kraftlet, taint] },
        });
      }
    }
    expect(others()).toHaveLength(3);
    expect(world.notesOf('FailedScheduling')).toEqual([]);
    expect(world.notesOf('ProvisioningBackoff')).toHaveLength(1);
  });

  test('K7: whose like waits too, do not make their machines look as if they were in vain', async () => {
    const { backedOff } = world.start();
    for (const name of ['b', 'c']) seedMachine(name);
    for (const name of ['old', 'b', 'c']) seedGuest(`web-${name}`, name);
    const before = world.claims.length;
    ['old', 'b', 'c'].forEach(startDeleting);
    await world.clock.forward(window);
    for (const claim of world.claims.slice(before)) opens(claim);
    await world.clock.forward(minutes(1));
    expect(world.claims).toHaveLength(before + 3);

    world.seedPod('web-new', { cpu: '3' });
    await world.clock.forward(minutes(1));
    expect(world.claims).toHaveLength(before + 4);
    expect(backedOff.conditionsOf(world.seedPool('web'))).toEqual([]);
    expect(world.notesOf('FailedScheduling')).toEqual([]);
  });
});

test('K7: Pods that keep others of their kind away are no obstacle to themselves', async () => {
  world.seedPool('web');
  world.start();
  seedMachine('old');
  const node = world.client.peek(nodes, { name: 'old' })!;
  const open = { ...node.metadata.labels, [labels.registered]: 'true' };
  world.client.seed(nodes, { ...node, metadata: { ...node.metadata, labels: open } });
  const apart = (app: string) => ({
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: labels.nodePool, labelSelector: { matchLabels: { app } } },
      ],
    },
  });
  const on = { nodeName: 'old' };
  const guests = { one: apart('one'), two: apart('stays') };
  for (const [app, affinity] of Object.entries(guests))
    world.seedPod(
      app,
      { cpu: '1' },
      { labels: { app }, spec: { ...on, affinity }, status: running },
    );
  const stays = { labels: { app: 'stays' }, spec: on, status: running };
  world.seedPod('stays', { cpu: '1' }, stays);
  const pod = world.pod('shop/stays');
  const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
  world.client.seed(pods, { ...pod, metadata: { ...pod.metadata, annotations } });

  startDeleting('old');
  await world.clock.forward(minutes(1));

  expect(onlyOne().spec.resources?.requests).toMatchObject({ cpu: '1', pods: '1' }); // for one; two sees who stays
});

test('K37: a Pod that has to leave, and with which planning fails, hears nothing and keeps nobody waiting', async () => {
  world.seedPool('web');
  seedMachine('old');
  seedGuest('bad', 'old');
  startDeleting('old');
  world.seedPod('good');
  const metrics = new Metrics();
  const solver: Solver = {
    solve: async (problem) => {
      const isBad = problem.leaving?.some(({ metadata }) => metadata?.name === 'bad');
      if (isBad) throw new Error('out of luck');
      return Promise.resolve(solve(problem));
    },
  };
  world.start({}, { solver, metrics });
  await world.clock.forward(minutes(2));
  expect(onlyOne().spec.resources?.requests).toMatchObject({ cpu: '1' });
  expect(world.notesOf('FailedScheduling')).toEqual([]);
  expect(await metrics.text()).toContain('karpenter_unikraft_quarantined_pods 0');
});
