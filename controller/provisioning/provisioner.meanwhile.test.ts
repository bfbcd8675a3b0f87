import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { solve } from '#scheduling/solve.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { seconds } from '#schemas/time/clock.ts';

import type { Solver } from './solver.ts';
import { nodeClassRef, World } from './testing/world.ts';
import { SolverThreadDied } from './thread/errors.ts';

const window = seconds(2);
let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

/** Things happen once while a plan is made. */
function during(happens: () => void): { solver: Solver; passes: () => number } {
  let passes = 0;
  const solver: Solver = {
    solve: async (problem) => {
      const plan = solve(problem);
      passes += 1;
      if (passes === 1) happens();
      return Promise.resolve(plan);
    },
  };
  return { solver, passes: () => passes };
}

describe('while a plan is made', () => {
  test('a Pod that is deleted needs no machine', async () => {
    world.seedPool('web');
    world.seedPod('a');
    const { solver } = during(() => world.client.remove(pods, { namespace: 'shop', name: 'a' }));
    world.start({}, { solver });
    await world.clock.forward(window);
    expect(world.claims).toEqual([]);
  });

  test('a Pod that is bound needs none, and its neighbours get theirs all the same', async () => {
    world.seedPool('web');
    for (const name of ['a', 'b']) world.seedPod(name, { cpu: '5' }); // a machine each
    const { solver } = during(() => {
      world.seedPod('a', { cpu: '5' }, { spec: { nodeName: 'host' } });
    });
    const { nominations } = world.start({}, { solver });
    await world.clock.forward(window);
    expect(world.claims).toHaveLength(1);
    expect(nominations.podsOf(world.claims[0]!.metadata.name)).toEqual(['shop/b']);
  });

  test('a Pod that is made again under the same name is not taken for the one before it', async () => {
    world.seedPool('web');
    world.seedPod('a', { cpu: '7' });
    const { solver, passes } = during(() => {
      world.client.remove(pods, { namespace: 'shop', name: 'a' });
      world.seedPod('a', { cpu: '2' });
    });
    const { nominations } = world.start({}, { solver });
    await world.clock.forward(window);
    expect(passes()).toBe(2);
    const [claim] = world.claims;
    expect(world.claims).toHaveLength(1);
    expect(claim?.spec.resources?.requests).toMatchObject({ cpu: '2' });
    expect(nominations.claimOf(world.pod('shop/a'))).toBe(claim?.metadata.name);
  });

  test('a Pod that is made again while its machine comes is planned for itself, and takes what is there', async () => {
    world.seedPool('web');
    const { nominations } = world.start();
    world.seedPod('a', { cpu: '2' });
    await world.clock.forward(window);
    const [claim] = world.claims;
    world.client.remove(pods, { namespace: 'shop', name: 'a' });
    world.seedPod('a', { cpu: '7' }); // more than the machine has
    world.seedPod('b', { cpu: '2' });
    await world.clock.forward(window);
    expect(world.claims).toHaveLength(2);
    expect(nominations.podsOf(claim!.metadata.name)).toEqual(['shop/b']);
    expect(nominations.claimOf(world.pod('shop/a'))).toBe(world.claims[1]?.metadata.name);
  });

  test('a Pod that has left its node by then needs no machine, and one that has to leave another does', async () => {
    world.seedPool('web');
    const old = world.client.seed(nodeClaims, {
      metadata: { name: 'old', labels: { 'karpenter.sh/nodepool': 'web' } },
      spec: { nodeClassRef, requirements: [] },
    });
    world.seedNode(old);
    world.becomes(old, 'Registered', 'Initialized');
    for (const name of ['a', 'b'])
      world.seedPod(
        name,
        { cpu: '5' },
        { spec: { nodeName: 'old' }, status: { phase: 'Running' } },
      );
    const going = world.client.peek(nodeClaims, { name: 'old' })!;
    const metadata = {
      ...going.metadata,
      deletionTimestamp: world.clock.stamp(),
      finalizers: ['x'],
    };
    world.client.seed(nodeClaims, { ...going, metadata });
    const { solver } = during(() => world.client.remove(pods, { namespace: 'shop', name: 'a' }));
    const { nominations } = world.start({}, { solver });
    await world.clock.forward(window);
    const made = world.claims.filter(({ metadata: { name } }) => name !== 'old');
    expect(made).toHaveLength(1);
    expect(nominations.podsOf(made[0]!.metadata.name)).toEqual(['shop/b']);
  });

  test('a pool that goes away makes none', async () => {
    const pool = world.seedPool('web');
    world.seedPod('a');
    const { solver } = during(() => {
      const metadata = { ...pool.metadata, deletionTimestamp: world.clock.stamp() };
      world.client.seed(nodePools, { ...pool, metadata: { ...metadata, finalizers: ['x'] } });
    });
    world.start({}, { solver });
    await world.clock.forward(seconds(15));
    expect(world.claims).toEqual([]);
  });

  test('a pool that changes makes what it says now, in the next pass', async () => {
    const pool = world.seedPool('web');
    world.seedPod('a');
    const { solver, passes } = during(() => {
      const template = { ...pool.spec.template, metadata: { labels: { team: 'other' } } };
      const metadata = { ...pool.metadata, generation: 2 };
      const status = { conditions: [world.isTrue('Ready', 2)] };
      world.client.seed(nodePools, { ...pool, metadata, spec: { ...pool.spec, template }, status });
    });
    world.start({}, { solver });
    await world.clock.forward(seconds(5));
    expect(passes()).toBe(2);
    expect(world.claims).toMatchObject([{ metadata: { labels: { team: 'other' } } }]);
  });

  test('a claim that ends takes no Pods', async () => {
    world.seedPool('web');
    const first = world.start();
    world.seedPod('a');
    await world.clock.forward(window);
    const [claim] = world.claims;
    first.kill();

    const { solver } = during(() =>
      world.client.remove(nodeClaims, { name: claim!.metadata.name }),
    );
    const { nominations } = world.start({}, { solver });
    await world.clock.forward(seconds(1));
    expect(nominations.claimOf(world.pod('shop/a'))).toBeUndefined();
    await world.clock.forward(window);
    expect(world.claims).toHaveLength(1);
    expect(nominations.claimOf(world.pod('shop/a'))).toBe(world.claims[0]!.metadata.name);
    expect(world.claims[0]!.metadata.name).not.toBe(claim!.metadata.name);
  });
});

test('a pass whose solver died is tried again, and nothing is lost', async () => {
  world.seedPool('web');
  world.seedPod('a');
  const { solver } = during(() => {
    throw new SolverThreadDied(new Error('out of memory'));
  });
  world.start({}, { solver });
  await world.clock.forward(seconds(1));
  expect(world.claims).toEqual([]);
  await world.clock.forward(seconds(4));
  expect(world.claims).toHaveLength(1);
});
