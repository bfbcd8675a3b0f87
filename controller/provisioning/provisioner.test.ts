import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { nodeClaims } from '#schemas/karpenter/types.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import { annotations, finalizers, labels, taints } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { nodeClassRef, World } from './testing/world.ts';

const window = seconds(2);
let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

describe('a pending Pod', () => {
  test('K17: gets a NodeClaim made from its pool, with room reserved and the Pod told', async () => {
    const pool = world.seedPool('web', { cpu: '16' });
    const { reservations } = world.start();
    world.seedPod('a', { cpu: '3' });

    await world.clock.forward(window);

    const [claim] = world.claims;
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
    expect(world.notesOf('Nominated')).toMatchObject([
      { message: `Waits for the machine of NodeClaim ${claim?.metadata.name}` },
    ]);
  });

  test('F1: gets one claim, however often it is looked at and however late the cache is', async () => {
    world.seedPool('web');
    world.start();
    world.seedPod('a');
    world.caches.nodeClaims.fallBehind();
    await world.clock.forward(seconds(50));
    world.caches.nodeClaims.catchUp();
    await world.clock.forward(seconds(300));
    expect(world.claims).toHaveLength(1);
  });

  test('that came before a restart waits for the claim that is on its way', async () => {
    world.seedPool('web');
    const before = world.start();
    ['a', 'b'].map((name) => world.seedPod(name));
    await world.clock.forward(window);
    before.kill();

    const { nominations } = world.start();
    await world.clock.forward(seconds(30));

    expect(world.claims).toHaveLength(1);
    expect(nominations.podsOf(world.claims[0]!.metadata.name)).toEqual(['shop/a', 'shop/b']);
  });

  test.each<[string, Parameters<World['seedPod']>[2]]>([
    ['is bound', { spec: { nodeName: 'host' } }],
    ['waits at a gate', { spec: { schedulingGates: [{ name: 'wait' }] } }],
    ['does not tolerate our Nodes', { spec: { tolerations: [] } }],
    ['was not looked at by the scheduler', { status: { conditions: [] } }],
    ['is nominated for a Node that is there', { status: { nominatedNodeName: 'host' } }],
  ])('gets nothing while it %s', async (_, parts) => {
    world.seedPool('web');
    world.client.seed(nodes, { metadata: { name: 'host' }, spec: {}, status: {} });
    world.start();
    const key = world.seedPod('a', {}, parts);
    if (parts?.status)
      world.client.seed(pods, {
        ...world.client.peek(pods, { namespace: 'shop', name: 'a' })!,
        status: parts.status,
      });
    await world.clock.forward(seconds(15));
    expect(world.claims).toEqual([]);
    expect(world.notes.filter(({ object }) => object.metadata?.name === key)).toEqual([]);
  });

  test('is not hidden by the name of a Node that is gone', async () => {
    world.seedPool('web');
    world.start();
    world.seedPod(
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
    expect(world.claims).toHaveLength(1);
  });
});

describe('a machine on its way', () => {
  test('K32 F5: takes later Pods that fit what it will be', async () => {
    world.seedPool('web');
    const { nominations } = world.start();
    world.seedPod('a', { cpu: '3' });
    await world.clock.forward(window);
    const key = world.seedPod('b');
    await world.clock.forward(window);
    expect(world.claims).toHaveLength(1);
    expect(nominations.claimOf(world.pod(key))).toBe(world.claims[0]?.metadata.name);
  });

  test('that goes away frees its Pods for another one', async () => {
    world.seedPool('web');
    world.start();
    world.seedPod('a');
    await world.clock.forward(window);
    world.client.remove(nodeClaims, { name: world.claims[0]!.metadata.name });
    await world.clock.forward(window);
    expect(world.claims).toHaveLength(1);
  });

  test('that opened without its Pod is counted as it is, and no other comes while it has room', async () => {
    world.seedPool('web');
    const { nominations } = world.start();
    const key = world.seedPod('a');
    await world.clock.forward(window);
    const [claim] = world.claims;
    world.becomes(claim!, 'Registered', 'Initialized');
    world.seedNode(claim!);
    await world.clock.forward(seconds(60));
    expect(nominations.claimOf(world.pod(key))).toBeUndefined();
    expect(world.claims).toHaveLength(1);
    expect(world.notesOf('Nominated').at(-1)?.message).toBe(
      `${claim?.metadata.name} has room for this Pod`,
    );
  });

  test('that is full when its Pod comes too late is followed by another', async () => {
    world.seedPool('web');
    world.start();
    world.seedPod('a', { cpu: '3' });
    await world.clock.forward(window);
    const [claim] = world.claims;
    world.becomes(claim!, 'Registered', 'Initialized');
    world.seedNode(claim!);
    world.seedPod('thief', { cpu: '4' }, { spec: { nodeName: claim!.metadata.name } });
    await world.clock.forward(seconds(60));
    expect(world.claims).toHaveLength(2);
  });

  test('does not hide a Pod for ever that was nominated for it and does not fit', async () => {
    world.seedPool('web');
    world.start();
    world.seedPod('a', { cpu: '3' });
    await world.clock.forward(window);
    const [claim] = world.claims;
    world.becomes(claim!, 'Registered', 'Initialized');
    world.seedNode(claim!);
    const verdict = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' } as const;
    const status = { conditions: [verdict], nominatedNodeName: claim!.metadata.name };
    world.seedPod('a', { cpu: '3' }, { status });
    world.seedPod('thief', { cpu: '4' }, { spec: { nodeName: claim!.metadata.name } });

    await world.clock.forward(seconds(15));
    expect(world.claims).toHaveLength(1);
    await world.clock.forward(seconds(30));
    expect(world.claims).toHaveLength(2);
  });

  test('K33: that only starts is not left alone for its startup taints', async () => {
    world.seedPool('web');
    world.start();
    world.seedPod('a');
    await world.clock.forward(window);
    const [claim] = world.claims;
    world.becomes(claim!, 'Registered');
    const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;
    world.seedNode(claim!, { taints: [taints.kraftlet, notReady] });
    world.seedPod('b');
    await world.clock.forward(seconds(30));
    expect(world.claims).toHaveLength(1);
  });
});
