import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import { configMaps } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { fits } from '#schemas/quantity/resources.ts';
import { seconds } from '#schemas/time/clock.ts';

import { Reservations } from '../reservations/reservations.ts';
import { unavailable } from '../testing/refusals.ts';
import { nodeClassRef, World } from './testing/world.ts';

const window = seconds(2);
let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

describe('K11 K12: limits', () => {
  test('100 Pods at once never exceed them, and condition and event say which', async () => {
    const pool = world.seedPool('web', { cpu: '20', nodes: '4' });
    const { limits } = world.start();
    for (let index = 0; index < 100; index++) world.seedPod(`p${index}`);
    await world.clock.forward(seconds(30));

    const held = Object.values(world.client.all(configMaps)[0]?.data ?? {}).map((text) =>
      Number(JSON.parse(text).resources.cpu),
    );
    expect(held.reduce((sum, cpu) => sum + cpu, 0)).toBe(20);
    expect(world.claims).toHaveLength(held.length);
    expect(limits.conditionsOf(pool)).toMatchObject([
      {
        status: 'True',
        message: expect.stringContaining('Limit cpu 20 of NodePool web is reached, 20 in use'),
      },
    ]);
    expect(world.notesOf('LimitReached')).toMatchObject([
      { message: 'Limit cpu 20 of NodePool web is reached, 20 in use (KPU340)' },
    ]);
    expect(new Set(world.notesOf('FailedScheduling').map(({ object }) => object)).size).toBe(80);
  });

  test('hold over a restart in between, also when the new leader does not see the last claims', async () => {
    world.seedPool('web', { cpu: '8' });
    const first = world.start();
    for (let index = 0; index < 6; index++) world.seedPod(`p${index}`);
    await world.clock.forward(window);
    first.kill();
    world.caches.reservations.fallBehind();

    const { reservations } = world.start();
    for (let index = 6; index < 60; index++) world.seedPod(`p${index}`);
    await world.clock.forward(seconds(60));

    expect(fits({ cpu: reservations.used('web')['cpu']! }, { cpu: '8' })).toBe(true);
    expect(world.claims).toHaveLength(1);
  });

  test('that are raised let the waiting Pods go on', async () => {
    world.seedPool('web', { cpu: '2' });
    const { limits } = world.start();
    ['a', 'b'].map((name) => world.seedPod(name, { cpu: '2' }));
    await world.clock.forward(window);
    expect(world.claims).toHaveLength(1);

    const raised = world.seedPool('web', { cpu: '100' });
    world.client.seed(nodePools, {
      ...raised,
      metadata: { ...raised.metadata, generation: 2 },
      status: { conditions: [world.isTrue('Ready', 2)] },
    });
    await world.clock.forward(seconds(12));

    expect(world.claims).toHaveLength(2);
    expect(limits.conditionsOf(raised)).toMatchObject([{ status: 'False' }]);
  });
});

describe('room that somebody else took', () => {
  test('lets the claim go before anything is launched for it, and the Pod waits', async () => {
    const pool = world.seedPool('web', { cpu: '2' });
    const { nominations } = world.start();
    await world.clock.forward(window);
    world.caches.nodeClaims.fallBehind();
    world.caches.reservations.fallBehind();
    const old = new Reservations(world.context);
    const theirs = world.client.seed(nodeClaims, {
      metadata: { name: 'theirs', labels: { [labels.nodePool]: 'web' } },
      spec: { nodeClassRef, requirements: [] },
    });
    await old.reserve(pool, theirs, { cpu: '2' });
    const key = world.seedPod('a');

    await world.clock.forward(window);

    const [mine] = world.claims.filter(({ metadata }) => metadata.name !== 'theirs');
    expect(mine?.metadata.deletionTimestamp).toBeDefined();
    expect(nominations.claimOf(world.pod(key))).toBeUndefined();
    expect(old.used('web')).toMatchObject({ cpu: '2', nodes: '1' });
  });
});

describe('what goes wrong', () => {
  test('a pool that is not ready launches nothing, and the Pod is told why', async () => {
    const pool = world.seedPool('web');
    world.client.seed(nodePools, {
      ...pool,
      status: {
        conditions: [
          {
            ...world.isTrue('NodeClassReady'),
            status: 'False',
            message: 'UnikraftNodeClass "default" is being deleted (KPU202)',
          },
          { ...world.isTrue('Ready'), status: 'False', message: 'NodeClassReady=False' },
        ],
      },
    });
    world.start();
    world.seedPod('a');
    await world.clock.forward(window);
    expect(world.claims).toEqual([]);
    expect(world.notesOf('FailedScheduling')).toMatchObject([
      {
        message:
          'No Unikraft machine for this Pod: NodePool web: it is not ready: ' +
          'UnikraftNodeClass "default" is being deleted (KPU202). ' +
          'Put right what the pool or its node class names (KPU342)',
      },
    ]);
  });

  test('a pool of another provider is never launched from', async () => {
    const pool = world.seedPool('other');
    const template = {
      spec: {
        nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'x' },
        requirements: [],
      },
    };
    world.client.seed(nodePools, { ...pool, spec: { template } });
    world.start();
    world.seedPod('a');
    await world.clock.forward(seconds(30));
    expect(world.client.writes).toEqual([]);
  });

  test('an API server that refuses is asked again with growing pauses, and then all is as it should be', async () => {
    world.seedPool('web');
    world.start();
    world.client.fail(
      ({ verb, plural }) => verb === 'create' && plural === 'nodeclaims',
      unavailable(),
      4,
    );
    world.seedPod('a');
    await world.clock.forward(seconds(60));
    const asked = world.client.calls.filter(
      ({ verb, plural }) => verb === 'create' && plural === 'nodeclaims',
    );
    expect(asked).toHaveLength(5);
    expect(world.claims).toHaveLength(1);
    expect(world.notesOf('FailedCreate').length).toBeGreaterThan(0);
  });

  test('F20: Pods that tolerate everything and were not meant for us are left in peace', async () => {
    world.seedPool('web');
    world.start();
    const wildcard = [{ operator: 'Exists' as const }];
    world.seedPod(
      'theirs',
      {},
      { spec: { tolerations: wildcard, nodeSelector: { pool: 'theirs' } } },
    );
    world.seedPod('ours', {}, { spec: { nodeSelector: { pool: 'none' } } });
    await world.clock.forward(window);
    expect(world.notesOf('FailedScheduling').map(({ object }) => object.metadata?.name)).toEqual([
      'ours',
    ]);
  });

  test.each([
    ['alone it is told what it lacks', false, ['tolerant']],
    ['beside pools of another provider it may be theirs', true, []],
  ])('F20: a Pod that tolerates everything and is too big: %s', async (_, hasNeighbour, told) => {
    const pool = world.seedPool('web');
    const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
    const template = { spec: { nodeClassRef, requirements: [] } };
    if (hasNeighbour)
      world.client.seed(nodePools, { ...pool, metadata: { name: 'aws' }, spec: { template } });
    world.start();
    const tolerations = [{ operator: 'Exists' as const }];
    world.seedPod('tolerant', { cpu: '500' }, { spec: { tolerations } });
    await world.clock.forward(window);
    const notes = world.notesOf('FailedScheduling');
    expect(notes.map(({ object }) => object.metadata?.name)).toEqual(told);
  });
});
