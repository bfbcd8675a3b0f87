import { beforeEach, describe, expect, test } from 'vitest';

import { Metrics } from '#kube/metrics.ts';
import { size } from '#scheduling/testing/build.ts';
import { nodeClaims, nodePools, type NodeClaim, type NodePool } from '#schemas/karpenter/types.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Condition, Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { configMaps, nodes, pods } from '#schemas/kubernetes/resource.ts';
import { annotations, finalizers, group, labels, nodeClassKind, taints } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { fits } from '#schemas/quantity/resources.ts';
import { seconds } from '#schemas/time/clock.ts';

import type { Catalog, Offer } from '../catalog.ts';
import { Reservations } from '../reservations/reservations.ts';
import { memoryContext } from '../testing/context.ts';
import { unavailable } from '../testing/refusals.ts';
import { LimitStates } from './limit-states.ts';
import { Nominations } from './nominations.ts';
import { Provisioner } from './provisioner.ts';

const nodeClassRef = { group, kind: nodeClassKind, name: 'default' };
const resolved = { nodeClass: 'default', spec: { aws: { region: 'eu-1' } } } as ResolvedNodeClass;
let offer: Offer | undefined;
let world: ReturnType<typeof memoryContext>;
let stop: AbortController;

beforeEach(() => {
  stop?.abort();
  stop = new AbortController();
  world = memoryContext();
  offer = {
    revision: 'default-1',
    nodeClass: resolved,
    instanceTypes: [size(2), size(4), size(8)],
  };
});

/** A controller as after a start: it remembers nothing. */
function start() {
  const reservations = new Reservations(world.context);
  const nominations = new Nominations(world.context);
  const limits = new LimitStates();
  const catalog: Catalog = { offer: async () => Promise.resolve(offer) };
  const batch = { idle: seconds(1), max: seconds(10) };
  const parts = { catalog, reservations, nominations, limits, batch, metrics: new Metrics() };
  const provisioner = new Provisioner(world.context, parts);
  const own = new AbortController();
  const signal = AbortSignal.any([stop.signal, own.signal]);
  void reservations.run(signal);
  void provisioner.run(signal);
  return { nominations, reservations, limits, kill: () => own.abort() };
}

const True = (type: string, observedGeneration = 1): Condition => ({
  type,
  status: 'True',
  observedGeneration,
  lastTransitionTime: world.clock.stamp(),
});

function seedPool(
  name: string,
  limits?: ResourceList,
  parts: Partial<NodePool['spec']> = {},
): Live<NodePool> {
  const template = {
    metadata: { labels: { team: 'shop' } },
    spec: { nodeClassRef, requirements: [], expireAfter: '720h' },
  };
  const spec = { template, ...(limits ? { limits } : {}), ...parts };
  return world.client.seed(nodePools, {
    metadata: { name },
    spec,
    status: { conditions: [True('Ready')] },
  });
}

function seedPod(
  name: string,
  requests: ResourceList = { cpu: '1' },
  parts: { spec?: Partial<Pod['spec']>; status?: Pod['status'] } = {},
): string {
  const spec = {
    containers: [{ name: 'app', resources: { requests } }],
    tolerations: [{ key: taints.kraftlet.key, operator: 'Exists' as const }],
    ...parts.spec,
  };
  const conditions: Condition[] = [
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
  ];
  world.client.seed(pods, {
    metadata: { namespace: 'shop', name },
    spec,
    status: { conditions, ...parts.status },
  });
  return `shop/${name}`;
}

const claims = () => world.client.all(nodeClaims);
const window = seconds(2);
const notesOf = (reason: string) => world.notes.filter((note) => note.reason === reason);

function seedNode(name: string, claim: Live<NodeClaim>, parts: Partial<Node['spec']> = {}): void {
  world.client.seed(nodes, {
    metadata: { name, labels: { ...claim.metadata.labels, [labels.virtualKubelet]: 'true' } },
    spec: { providerID: `x/${name}`, taints: [taints.kraftlet], ...parts },
    status: { allocatable: { cpu: '4', memory: '16Gi', pods: '100' }, conditions: [True('Ready')] },
  });
}

function becomes(claim: Live<NodeClaim>, ...types: string[]): void {
  const status = {
    nodeName: claim.metadata.name,
    providerID: `x/${claim.metadata.name}`,
    conditions: types.map((type) => True(type)),
  };
  world.client.seed(nodeClaims, { ...claim, status });
}

describe('a pending Pod', () => {
  test('gets a NodeClaim made from its pool, with room reserved and the Pod told', async () => {
    const pool = seedPool('web', { cpu: '16' });
    const { reservations } = start();
    seedPod('a', { cpu: '3' });

    await world.clock.forward(window);

    const [claim] = claims();
    expect(claim?.metadata).toMatchObject({
      name: expect.stringMatching(/^web-/),
      labels: { team: 'shop', [labels.nodePool]: 'web', [labels.nodeClass]: 'default' },
      annotations: { [annotations.nodePoolHash]: expect.any(String) },
      finalizers: [finalizers.termination],
      ownerReferences: [
        { kind: 'NodePool', name: 'web', uid: pool.metadata.uid, blockOwnerDeletion: true },
      ],
    });
    expect(claim?.spec).toMatchObject({
      nodeClassRef,
      expireAfter: '720h',
      resources: { requests: { cpu: '3', pods: '1' } },
      requirements: expect.arrayContaining([
        { key: labels.instanceType, operator: 'In', values: ['m.4', 'm.8'] },
      ]),
    });
    expect(reservations.used('web')).toMatchObject({ cpu: '4', nodes: '1' });
    expect(notesOf('Nominated')).toMatchObject([
      { message: `waits for the machine of NodeClaim ${claim?.metadata.name}` },
    ]);
  });

  test('gets one claim, however often it is looked at and however late the cache is', async () => {
    seedPool('web');
    start();
    seedPod('a');
    world.caches.nodeClaims.fallBehind();
    await world.clock.forward(seconds(50));
    world.caches.nodeClaims.catchUp();
    await world.clock.forward(seconds(300));
    expect(claims()).toHaveLength(1);
  });

  test('that came before a restart waits for the claim that is on its way', async () => {
    seedPool('web');
    const before = start();
    ['a', 'b'].map((name) => seedPod(name));
    await world.clock.forward(window);
    before.kill();

    const { nominations } = start();
    await world.clock.forward(seconds(30));

    expect(claims()).toHaveLength(1);
    expect(nominations.podsOf(claims()[0]!.metadata.name)).toEqual(['shop/a', 'shop/b']);
  });

  test.each<[string, Parameters<typeof seedPod>[2]]>([
    ['is bound', { spec: { nodeName: 'host' } }],
    ['waits at a gate', { spec: { schedulingGates: [{ name: 'wait' }] } }],
    ['does not tolerate our Nodes', { spec: { tolerations: [] } }],
    ['was not looked at by the scheduler', { status: { conditions: [] } }],
    ['is nominated for a Node that is there', { status: { nominatedNodeName: 'host' } }],
  ])('gets nothing while it %s', async (_, parts) => {
    seedPool('web');
    world.client.seed(nodes, { metadata: { name: 'host' }, spec: {}, status: {} });
    start();
    const key = seedPod('a', {}, parts);
    if (parts?.status)
      world.client.seed(pods, {
        ...world.client.peek(pods, { namespace: 'shop', name: 'a' })!,
        status: parts.status,
      });
    await world.clock.forward(seconds(15));
    expect(claims()).toEqual([]);
    expect(world.notes.filter(({ object }) => object.metadata?.name === key)).toEqual([]);
  });

  test('is not hidden by the name of a Node that is gone', async () => {
    seedPool('web');
    start();
    seedPod(
      'a',
      {},
      {
        status: {
          conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
          nominatedNodeName: 'gone',
        },
      },
    );
    await world.clock.forward(window);
    expect(claims()).toHaveLength(1);
  });
});

describe('a machine on its way', () => {
  test('takes later Pods that fit what it will be', async () => {
    seedPool('web');
    const { nominations } = start();
    seedPod('a', { cpu: '3' });
    await world.clock.forward(window);
    const key = seedPod('b');
    await world.clock.forward(window);
    expect(claims()).toHaveLength(1);
    expect(nominations.claimOf(key)).toBe(claims()[0]?.metadata.name);
  });

  test('that goes away frees its Pods for another one', async () => {
    seedPool('web');
    start();
    seedPod('a');
    await world.clock.forward(window);
    world.client.remove(nodeClaims, { name: claims()[0]!.metadata.name });
    await world.clock.forward(window);
    expect(claims()).toHaveLength(1);
  });

  test('that opened without its Pod is counted as it is, and no other comes while it has room', async () => {
    seedPool('web');
    const { nominations } = start();
    const key = seedPod('a');
    await world.clock.forward(window);
    const [claim] = claims();
    becomes(claim!, 'Registered', 'Initialized');
    seedNode(claim!.metadata.name, claim!);
    await world.clock.forward(seconds(60));
    expect(nominations.claimOf(key)).toBeUndefined();
    expect(claims()).toHaveLength(1);
    expect(notesOf('Nominated').at(-1)?.message).toBe(
      `${claim?.metadata.name} has room for this Pod`,
    );
  });

  test('that is full when its Pod comes too late is followed by another', async () => {
    seedPool('web');
    start();
    seedPod('a', { cpu: '3' });
    await world.clock.forward(window);
    const [claim] = claims();
    becomes(claim!, 'Registered', 'Initialized');
    seedNode(claim!.metadata.name, claim!);
    seedPod('thief', { cpu: '4' }, { spec: { nodeName: claim!.metadata.name } });
    await world.clock.forward(seconds(60));
    expect(claims()).toHaveLength(2);
  });

  test('that only starts is not left alone for its startup taints', async () => {
    seedPool('web');
    start();
    seedPod('a');
    await world.clock.forward(window);
    const [claim] = claims();
    becomes(claim!, 'Registered');
    const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;
    seedNode(claim!.metadata.name, claim!, { taints: [taints.kraftlet, notReady] });
    seedPod('b');
    await world.clock.forward(seconds(30));
    expect(claims()).toHaveLength(1);
  });
});

describe('limits', () => {
  test('100 Pods at once never exceed them, and condition and event say which', async () => {
    const pool = seedPool('web', { cpu: '20', nodes: '4' });
    const { limits } = start();
    for (let index = 0; index < 100; index++) seedPod(`p${index}`);
    await world.clock.forward(seconds(30));

    const held = Object.values(world.client.all(configMaps)[0]?.data ?? {}).map((text) =>
      Number(JSON.parse(text).resources.cpu),
    );
    expect(held.reduce((sum, cpu) => sum + cpu, 0)).toBe(20);
    expect(claims()).toHaveLength(held.length);
    expect(limits.conditionsOf(pool)).toMatchObject([
      {
        status: 'True',
        message: expect.stringContaining('limit cpu 20 of NodePool web is reached, 20 in use'),
      },
    ]);
    expect(notesOf('LimitReached')).toHaveLength(1);
    expect(notesOf('FailedScheduling').length).toBe(80);
  });

  test('hold over a restart in between, also when the new leader does not see the last claims', async () => {
    seedPool('web', { cpu: '8' });
    const first = start();
    for (let index = 0; index < 6; index++) seedPod(`p${index}`);
    await world.clock.forward(window);
    first.kill();
    world.caches.reservations.fallBehind();

    const { reservations } = start();
    for (let index = 6; index < 60; index++) seedPod(`p${index}`);
    await world.clock.forward(seconds(60));

    expect(fits({ cpu: reservations.used('web')['cpu']! }, { cpu: '8' })).toBe(true);
    expect(claims()).toHaveLength(1);
  });

  test('that are raised let the waiting Pods go on', async () => {
    seedPool('web', { cpu: '2' });
    const { limits } = start();
    ['a', 'b'].map((name) => seedPod(name, { cpu: '2' }));
    await world.clock.forward(window);
    expect(claims()).toHaveLength(1);

    const raised = seedPool('web', { cpu: '100' });
    world.client.seed(nodePools, {
      ...raised,
      metadata: { ...raised.metadata, generation: 2 },
      status: { conditions: [True('Ready', 2)] },
    });
    await world.clock.forward(seconds(12));

    expect(claims()).toHaveLength(2);
    expect(limits.conditionsOf(raised)).toMatchObject([{ status: 'False' }]);
  });
});

describe('what goes wrong', () => {
  test('a pool that is not ready launches nothing, and the Pod is told why', async () => {
    const pool = seedPool('web');
    world.client.seed(nodePools, {
      ...pool,
      status: {
        conditions: [{ ...True('Ready'), status: 'False', message: 'NodeClassReady=False' }],
      },
    });
    start();
    seedPod('a');
    await world.clock.forward(window);
    expect(claims()).toEqual([]);
    expect(notesOf('FailedScheduling')).toMatchObject([
      {
        message:
          'no Unikraft machine for this Pod: NodePool web: it is not ready: NodeClassReady=False (KPU342)',
      },
    ]);
  });

  test('a pool of another provider is never launched from', async () => {
    const pool = seedPool('other');
    const template = {
      spec: {
        nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'x' },
        requirements: [],
      },
    };
    world.client.seed(nodePools, { ...pool, spec: { template } });
    start();
    seedPod('a');
    await world.clock.forward(seconds(30));
    expect(world.client.writes).toEqual([]);
  });

  test('an API server that refuses is asked again with growing pauses, and then all is as it should be', async () => {
    seedPool('web');
    start();
    world.client.fail(
      ({ verb, plural }) => verb === 'create' && plural === 'nodeclaims',
      unavailable(),
      4,
    );
    seedPod('a');
    await world.clock.forward(seconds(60));
    const asked = world.client.calls.filter(
      ({ verb, plural }) => verb === 'create' && plural === 'nodeclaims',
    );
    expect(asked).toHaveLength(5);
    expect(claims()).toHaveLength(1);
    expect(notesOf('FailedCreate').length).toBeGreaterThan(0);
  });

  test('Pods that tolerate everything and were not meant for us are left in peace', async () => {
    seedPool('web');
    start();
    const wildcard = [{ operator: 'Exists' as const }];
    seedPod('theirs', {}, { spec: { tolerations: wildcard, nodeSelector: { pool: 'theirs' } } });
    seedPod('ours', {}, { spec: { nodeSelector: { pool: 'none' } } });
    await world.clock.forward(window);
    expect(notesOf('FailedScheduling').map(({ object }) => object.metadata?.name)).toEqual([
      'ours',
    ]);
  });
});
