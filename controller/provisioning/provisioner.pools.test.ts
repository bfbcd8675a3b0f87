/** Which pools machines are made from. Numbers are those of docs/reference/karpenter-behaviour.md. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { Metrics } from '#kube/metrics.ts';
import { solve } from '#scheduling/solve.ts';
import { nodePools, type NodePool } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations, finalizers, labels } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { hashVersion, nodePoolHash } from '../nodepool/hash.ts';
import type { Solver } from './solver.ts';
import { nodeClassRef, World } from './testing/world.ts';

const window = seconds(2);
let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

const seeded = (pool: Live<NodePool>): Live<NodePool> => world.client.seed(nodePools, pool);
const poolsUsed = () => world.claims.map(({ metadata }) => metadata.labels?.[labels.nodePool]);

/** Somebody has deleted it, and a finalizer holds it. */
function deletePool(pool: Live<NodePool>): void {
  const { metadata } = pool;
  const held = { deletionTimestamp: world.clock.stamp(), finalizers: ['example.com/held'] };
  seeded({ ...pool, metadata: { ...metadata, ...held } });
}

describe('K4: a pool that is being deleted', () => {
  test('makes nothing, and another one is asked', async () => {
    const pool = world.seedPool('going');
    deletePool({ ...pool, spec: { ...pool.spec, weight: 100 } });
    world.seedPool('web');
    world.start();
    world.seedPod('a');
    await world.clock.forward(window);
    expect(poolsUsed()).toEqual(['web']);
  });
});

describe('K5: without a pool that could make machines', () => {
  test.each(['none at all', 'one that is being deleted', 'one of fixed size'])(
    '%s: the Pod is told, and counted as one that waits',
    async (which) => {
      if (which === 'one that is being deleted') deletePool(world.seedPool('going'));
      if (which === 'one of fixed size') {
        const pool = world.seedPool('fixed');
        seeded({ ...pool, spec: { ...pool.spec, replicas: 3 } });
      }
      const metrics = new Metrics();
      world.start({}, { metrics });
      world.seedPod('a');
      await world.clock.forward(window);

      expect(world.claims).toEqual([]);
      expect(world.notesOf('FailedScheduling')).toMatchObject([
        {
          object: { metadata: { name: 'a' } },
          message: expect.stringMatching(
            /^There is no NodePool for Unikraft machines\. .* \(KPU342\)$/,
          ),
        },
      ]);
      expect(await metrics.text()).toContain(
        'karpenter_scheduler_unschedulable_pods_count{controller="provisioner"} 1',
      );
    },
  );
});

test('K6: nothing is made from a pool that has changed meanwhile, and a claim has the hash of its own template', async () => {
  const pool = world.seedPool('web');
  world.seedPod('a');
  const large = { key: labels.instanceVcpus, operator: 'Gt' as const, values: ['4'] };
  const changed: Live<NodePool> = {
    ...pool,
    metadata: { ...pool.metadata, generation: 2 },
    spec: {
      template: {
        metadata: { labels: { team: 'other' } },
        spec: { ...pool.spec.template.spec, requirements: [large] },
      },
    },
    status: { conditions: [world.isTrue('Ready', 2)] },
  };
  let passes = 0;
  const solver: Solver = {
    solve: async (problem) => {
      const plan = solve(problem);
      passes += 1;
      if (passes === 1) seeded(changed);
      return Promise.resolve(plan);
    },
  };
  world.start({}, { solver });
  await world.clock.forward(seconds(5));

  expect(nodePoolHash(changed)).not.toBe(nodePoolHash(pool));
  expect(world.claims).toMatchObject([
    {
      metadata: {
        labels: { team: 'other' },
        annotations: {
          [annotations.nodePoolHash]: nodePoolHash(changed),
          [annotations.nodePoolHashVersion]: hashVersion,
        },
      },
      spec: {
        requirements: expect.arrayContaining([
          { key: labels.instanceType, operator: 'In', values: ['m.8'] },
        ]),
      },
    },
  ]);
});

describe('K17: a claim', () => {
  test('says what its template says, and of labels what is no matter of the machine', async () => {
    const pool = world.seedPool('web');
    const taints = [{ key: 'team', value: 'red', effect: 'PreferNoSchedule' as const }];
    const startupTaints = [{ key: 'starting', effect: 'NoSchedule' as const }];
    const template = {
      metadata: {
        labels: { team: 'red', 'team.kubernetes.io/of': 'x' },
        annotations: { 'example.com/note': 'hello' },
      },
      spec: {
        nodeClassRef,
        taints,
        startupTaints,
        expireAfter: '48h0m',
        terminationGracePeriod: '90s',
        requirements: [
          { key: labels.instanceVcpus, operator: 'Gt' as const, values: ['2'] },
          { key: 'tier', operator: 'In' as const, values: ['gold'] },
          { key: labels.os, operator: 'In' as const, values: ['linux'] },
        ],
      },
    };
    const { metadata } = seeded({ ...pool, spec: { template } });
    world.start();
    world.seedPod('a', { cpu: '1', memory: '1Gi' });
    await world.clock.forward(window);

    const [claim] = world.claims;
    expect(claim?.metadata.labels).toEqual({
      team: 'red',
      'team.kubernetes.io/of': 'x',
      tier: 'gold',
      [labels.nodePool]: 'web',
      [labels.nodeClass]: 'default',
    });
    expect(claim?.metadata.annotations).toMatchObject({ 'example.com/note': 'hello' });
    expect(claim?.metadata.finalizers).toEqual([finalizers.termination]);
    expect(claim?.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodePool',
        name: 'web',
        uid: metadata.uid,
        blockOwnerDeletion: true,
      },
    ]);
    expect(claim?.spec).toMatchObject({
      nodeClassRef,
      taints,
      startupTaints,
      expireAfter: '48h0m',
      terminationGracePeriod: '90s',
      resources: { requests: { cpu: '1', memory: '1Gi', pods: '1' } },
    });
  });

  test('asks only for sizes that its pool and its Pods allow', async () => {
    const pool = world.seedPool('web');
    const { template } = pool.spec;
    const requirements = [{ key: labels.instanceVcpus, operator: 'Gt' as const, values: ['2'] }];
    const spec = { ...template.spec, requirements };
    seeded({ ...pool, spec: { template: { ...template, spec } } });
    world.start();
    world.seedPod('a', {}, { spec: { nodeSelector: { [labels.instanceVcpus]: '8' } } });
    world.seedPod('b', { cpu: '3' });
    await world.clock.forward(window);

    const sizes = world.claims.map(
      ({ spec: { requirements: all } }) =>
        all.find(({ key }) => key === labels.instanceType)?.values,
    );
    expect(sizes).toEqual([['m.8']]);
  });
});
