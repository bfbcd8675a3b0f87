import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { nodePools } from '#schemas/karpenter/types.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { annotations, labels } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { World } from './testing/world.ts';

const window = seconds(2);
let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

const apart = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: labels.hostname, labelSelector: { matchLabels: { app: 'db' } } },
    ],
  },
};

describe('rules between Pods', () => {
  test('look at Pods that have a place: one that avoids them goes elsewhere', async () => {
    world.seedPool('web');
    world.client.seed(nodes, {
      metadata: { name: 'there', labels: { [labels.hostname]: 'there' } },
      status: {
        allocatable: { cpu: '64', memory: '256Gi', pods: '100' },
        conditions: [world.isTrue('Ready')],
      },
    });
    world.seedPod('db-1', { cpu: '1' }, { labels: { app: 'db' }, spec: { nodeName: 'there' } });
    const { nominations } = world.start();
    world.seedPod('db-2', { cpu: '1' }, { labels: { app: 'db' }, spec: { affinity: apart } });
    world.seedPod('web', { cpu: '1' });

    await world.clock.forward(window);

    expect(world.claims).toHaveLength(1);
    expect(nominations.claimOf(world.pod('shop/db-2'))).toBe(world.claims[0]?.metadata.name);
    expect(nominations.claimOf(world.pod('shop/web'))).toBeUndefined(); // there is room for it
  });
});

describe('K27: a pool that wants more kinds of machines than there are', () => {
  function seedDemandingPool(): void {
    const pool = world.seedPool('web');
    const wish = { key: labels.instanceType, operator: 'Exists', minValues: 9 } as const;
    const { template } = pool.spec;
    const spec = {
      ...pool.spec,
      template: { ...template, spec: { ...template.spec, requirements: [wish] } },
    };
    world.client.seed(nodePools, { ...pool, spec });
  }

  test('gets none as long as that is strict', async () => {
    seedDemandingPool();
    world.start();
    world.seedPod('a');
    await world.clock.forward(window);
    expect(world.claims).toEqual([]);
  });

  test('gets one that says so where it need not be kept', async () => {
    seedDemandingPool();
    world.start({ minValuesPolicy: 'BestEffort' });
    world.seedPod('a');
    await world.clock.forward(window);
    expect(world.claims).toHaveLength(1);
    expect(world.claims[0]?.metadata.annotations?.[annotations.minValuesRelaxed]).toBe('true');
  });
});
