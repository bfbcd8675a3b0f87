import { afterEach, beforeEach, expect, test } from 'vitest';

import { nodePools, type NodePool, type Requirement } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { World } from './testing/world.ts';

const arm: Requirement = { key: labels.arch, operator: 'In', values: ['arm64'] };
const told =
  'No instance type of its node class has kubernetes.io/arch In [arm64]; they have amd64 (KPU345)';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

/** A pool that asks for this, as a new generation that was found ready. */
function asking(pool: Live<NodePool>, requirements: Requirement[]): void {
  const { template } = pool.spec;
  const generation = (pool.metadata.generation ?? 1) + 1;
  world.client.seed(nodePools, {
    metadata: { name: pool.metadata.name, generation },
    spec: { ...pool.spec, template: { ...template, spec: { ...template.spec, requirements } } },
    status: { conditions: [world.isTrue('Ready', generation)] },
  });
}

test('a pool whose requirements leave no size says so, without any Pod that waits', async () => {
  const pool = world.seedPool('web');
  asking(pool, [arm]);
  const { misfits } = world.start();
  await world.clock.forward(seconds(5));
  expect(world.notesOf('NoCompatibleInstanceTypes')).toMatchObject([{ message: told }]);
  expect(misfits.conditionsOf(pool)).toEqual([
    {
      type: 'InstanceTypesFound',
      status: 'False',
      reason: 'NoCompatibleInstanceTypes',
      message: told,
    },
  ]);
});

test('once it is corrected the condition turns True; a pool that never had it says nothing', async () => {
  const pool = world.seedPool('web');
  const { misfits } = world.start();
  const changed: string[] = [];
  misfits.subscribe((name) => changed.push(name));
  await world.clock.forward(seconds(5));
  expect(misfits.conditionsOf(pool)).toEqual([]);
  const status = { conditions: [{ type: 'InstanceTypesFound', status: 'False' as const }] };
  expect(misfits.conditionsOf({ ...pool, status })).toEqual([
    { type: 'InstanceTypesFound', status: 'True' },
  ]);
  expect(changed).toEqual(['web']);
});
