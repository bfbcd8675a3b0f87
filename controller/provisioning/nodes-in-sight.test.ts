import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { size } from '#scheduling/testing/build.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node, PodSpec } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { daemonSets, nodes, pods } from '#schemas/kubernetes/resource.ts';
import { labels, taints } from '#schemas/names.ts';

import type { Offer } from '../catalog.ts';
import { NodesInSight } from './nodes-in-sight.ts';
import { Nominations } from './nominations.ts';
import { Slices } from './slices.ts';
import { sortPods } from './sorted-pods.ts';
import { nodeClassRef, World } from './testing/world.ts';

let world: World;
let nominations: Nominations;
beforeEach(() => {
  world = new World();
  nominations = new Nominations(world.context);
  sight = new NodesInSight(world.context, nominations);
});
afterEach(() => world.end());

const offer = { instanceTypes: [size(2), size(4), size(8)], nodeClass: { spec: {} } };
let sight: NodesInSight;
const look = async () => {
  const claims = world.claims;
  const offers = new Map([['default', offer as unknown as Offer]]);
  const { placed } = await sortPods(world.caches.pods.list(), new Slices());
  return sight.look({ claims, offers, placed }, new Slices());
};
const inSight = async () => (await look()).nodes;

function seedClaim(name: string, parts: Partial<NodeClaim['spec']> = {}): Live<NodeClaim> {
  const sizes = { key: labels.instanceType, operator: 'In' as const, values: ['m.4', 'm.8'] };
  return world.client.seed(nodeClaims, {
    metadata: { name, labels: { [labels.nodePool]: 'web' } },
    spec: { nodeClassRef, requirements: [sizes], ...parts },
  });
}

function seedHost(name: string, parts: Partial<Node> = {}): void {
  const ready = { type: 'Ready', status: 'True' as const };
  const status = { allocatable: { cpu: '8', memory: '32Gi', pods: '110' }, conditions: [ready] };
  world.client.seed(nodes, { metadata: { name }, status, ...parts });
}

const agent = (cpu: string) => [{ name: 'agent', resources: { requests: { cpu } } }];

function seedDaemonSet(cpu: string, parts: Partial<PodSpec> = {}): void {
  const spec = { template: { spec: { containers: agent(cpu), ...parts } } };
  world.client.seed(daemonSets, { metadata: { name: 'agent' }, spec });
}

/** On the host. */
function seedDaemonPod(cpu: string): void {
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u' };
  world.client.seed(pods, {
    metadata: { name: 'agent-1', ownerReferences: [owner] },
    spec: { containers: agent(cpu), nodeName: 'host' },
  });
}

describe('Nodes that are there', () => {
  test('K34: of others count with what their Pods take, ended ones aside', async () => {
    seedHost('host');
    const on = { spec: { nodeName: 'host' } };
    world.seedPod('a', { cpu: '2' }, on);
    world.seedPod('done', { cpu: '4' }, { ...on, status: { phase: 'Succeeded' } });
    expect(await inSight()).toMatchObject([
      { name: 'host', kind: 'node', requested: { cpu: '2', pods: '1' }, empty: false },
    ]);
  });

  test('that take nobody are left out: cordoned, going, not ready, or ours without a claim', async () => {
    seedHost('cordoned', { spec: { unschedulable: true } });
    seedHost('going', { metadata: { name: 'going', deletionTimestamp: world.clock.stamp() } });
    seedHost('sick', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } });
    seedHost('orphan', { metadata: { name: 'orphan', labels: { [labels.nodeClass]: 'default' } } });
    expect(await inSight()).toEqual([]);
  });

  test('K16: keep room for DaemonSets that are still to come, once', async () => {
    seedHost('host');
    seedDaemonSet('1');
    expect(await inSight()).toMatchObject([{ requested: { cpu: '1', pods: '1' }, empty: true }]);

    seedDaemonPod('1');
    expect(await inSight()).toMatchObject([{ requested: { cpu: '1', pods: '1' }, empty: true }]);
  });

  test('that cannot be read, or hold a Pod that cannot, are left out, and those beside them are not', async () => {
    seedHost('well');
    const conditions = [{ type: 'Ready', status: 'True' as const }];
    seedHost('sick', { status: { allocatable: { cpu: '8', 'x.io/y': '1e1.5' }, conditions } });
    seedHost('held');
    world.seedPod('bound', { memory: '1e1.5' }, { spec: { nodeName: 'held' } });
    expect(await inSight()).toMatchObject([{ name: 'well' }]);
    const { bound, closed } = await look();
    expect(bound).toMatchObject([{ on: 'held' }]);
    expect(closed.map(({ name }) => name).toSorted()).toEqual(['held', 'sick']);
  });

  test('of others have as much as can be counted of what nobody can have so much of', async () => {
    const conditions = [{ type: 'Ready', status: 'True' as const }];
    seedHost('vast', { status: { allocatable: { cpu: '8', memory: '100e1998' }, conditions } });
    world.seedPod('bound', { memory: '100e1998' }, { spec: { nodeName: 'vast' } });
    seedDaemonSet('1e2000');
    expect(await inSight()).toMatchObject([{ name: 'vast', allocatable: { memory: '100e1998' } }]);
  });

  test('K16: count more of a DaemonSet than was expected as it is', async () => {
    seedHost('host');
    seedDaemonSet('1');
    seedDaemonPod('3');
    expect(await inSight()).toMatchObject([{ requested: { cpu: '3', pods: '1' } }]);
  });
});

describe('K14: a DaemonSet that selects Nodes that are ready', () => {
  const ready = { [labels.registered]: 'true', [labels.initialized]: 'true' };

  test('will come to a machine on its way, and to one that starts', async () => {
    seedDaemonSet('1', { nodeSelector: ready, tolerations: [{ operator: 'Exists' }] });
    const claim = seedClaim('web-1');
    expect(await inSight()).toMatchObject([{ kind: 'claim', requested: { cpu: '1' } }]);

    world.seedNode(claim);
    world.becomes(claim, 'Registered');
    expect(await inSight()).toMatchObject([{ kind: 'node', requested: { cpu: '1' } }]);
  });

  test('does not come to Nodes of others, which never say so', async () => {
    seedHost('host');
    seedDaemonSet('1', { nodeSelector: ready });
    expect((await inSight()).map(({ requested }) => requested)).toEqual([{}]);
  });
});

describe('machines on their way', () => {
  test('are the least of what they may become, less what waits for them', async () => {
    seedClaim('web-1');
    nominations.plan('web-1', [world.pod(world.seedPod('a', { cpu: '1' }))]);
    expect(await inSight()).toMatchObject([
      {
        name: 'web-1',
        kind: 'claim',
        taints: [taints.kraftlet],
        allocatable: { cpu: '4', memory: '16Gi' },
        requested: { cpu: '1', pods: '1' },
        labels: { [labels.virtualKubelet]: 'true', [labels.nodeClass]: 'default' },
      },
    ]);
  });

  test('are the size that was chosen for them, then what they said of themselves', async () => {
    const claim = seedClaim('web-1');
    const chosen = { ...claim.metadata.labels, [labels.instanceType]: 'm.8' };
    const stamped = world.client.seed(nodeClaims, {
      ...claim,
      metadata: { ...claim.metadata, labels: chosen },
    });
    expect(await inSight()).toMatchObject([{ allocatable: { cpu: '8' } }]);
    world.client.seed(nodeClaims, { ...stamped, status: { capacity: { cpu: '7' } } });
    expect(await inSight()).toMatchObject([{ allocatable: { cpu: '7' } }]);
  });

  test('K33: become Nodes when they are registered, without the taints of a start, zeros filled in', async () => {
    const startup = { key: 'cni', effect: 'NoSchedule' } as const;
    const claim = seedClaim('web-1', { startupTaints: [startup] });
    const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' } as const;
    world.seedNode(claim, { taints: [taints.kraftlet, startup, notReady] });
    world.becomes(claim, 'Launched');
    expect(await inSight()).toMatchObject([{ name: 'web-1', kind: 'claim' }]);

    world.becomes(claim, 'Launched', 'Registered');
    expect(await inSight()).toMatchObject([
      { kind: 'node', taints: [taints.kraftlet], allocatable: { cpu: '4' } },
    ]);

    world.becomes(claim, 'Launched', 'Registered', 'Initialized');
    expect(await inSight()).toMatchObject([
      { kind: 'node', taints: [taints.kraftlet, startup, notReady] },
    ]);
  });

  test('that are leaving count for nothing, with their Nodes', async () => {
    const claim = seedClaim('web-1');
    world.seedNode(claim);
    world.becomes(claim, 'Registered', 'Initialized', 'InstanceTerminating');
    seedClaim('web-2');
    world.client.seed(nodeClaims, {
      ...world.client.peek(nodeClaims, { name: 'web-2' })!,
      metadata: { name: 'web-2', deletionTimestamp: world.clock.stamp(), finalizers: ['x'] },
    });
    expect(await inSight()).toEqual([]);
  });
});

describe('Pods that have a place', () => {
  const places = async () =>
    Object.fromEntries((await look()).bound.map(({ pod, on }) => [pod.metadata?.name ?? '', on]));

  test('are told with it, on nodes that take no more too, and no ended one', async () => {
    seedHost('host');
    seedHost('cordoned', { spec: { unschedulable: true } });
    world.seedPod('a', {}, { spec: { nodeName: 'host' } });
    world.seedPod('b', {}, { spec: { nodeName: 'cordoned' } });
    world.seedPod('done', {}, { spec: { nodeName: 'host' }, status: { phase: 'Failed' } });
    world.seedPod('waiting');
    expect(await places()).toEqual({ a: 'host', b: 'cordoned' });
    expect((await look()).closed).toMatchObject([{ name: 'cordoned' }]);
  });

  test('are on the claim that they are planned for, and on its Node once that is open', async () => {
    const claim = seedClaim('web-1');
    nominations.plan('web-1', [world.pod(world.seedPod('a'))]);
    world.seedNode(claim);
    expect([await places(), (await look()).closed]).toEqual([{ a: 'web-1' }, []]);

    world.becomes(claim, 'Launched', 'Registered', 'Initialized');
    const [{ name } = { name: '' }] = await inSight();
    expect(await places()).toEqual({ a: name });
    expect(name).not.toBe('');
  });
});
