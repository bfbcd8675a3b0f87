import { beforeEach, describe, expect, test } from 'vitest';

import { getCondition } from '#kube/conditions.ts';
import { Metrics } from '#kube/metrics.ts';
import { nodeClaims, nodePools, type NodePool } from '#schemas/karpenter/types.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { annotations } from '#schemas/names.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { seconds } from '#schemas/time/clock.ts';

import { memoryContext } from '../testing/context.ts';
import {
  condition,
  foreignRef,
  nodeClaim,
  nodeClass,
  nodePool,
  runningMachine,
} from '../testing/objects.ts';
import { NodePoolController } from './controller.ts';
import { hashVersion, nodePoolHash } from './hash.ts';

let world: ReturnType<typeof memoryContext>;
let controller: NodePoolController;

beforeEach(() => {
  world = memoryContext();
  controller = new NodePoolController(world.context);
});

const poolNow = (): NodePool | undefined => world.client.peek(nodePools, { name: 'web' });
const conditionNow = (type: string) => getCondition(poolNow()?.status?.conditions, type);

function readyNodeClass(): void {
  const status = { conditions: [condition('Ready', 'True', { observedGeneration: 3 })] };
  world.client.seed(unikraftNodeClasses, { ...nodeClass(), status });
}

describe('readiness', () => {
  test('a pool with a ready node class is Ready, and shows which generation of it', async () => {
    readyNodeClass();
    world.client.seed(nodePools, nodePool());
    await controller.reconcile('web');
    expect(conditionNow('Ready')?.status).toBe('True');
    expect(poolNow()?.status).toMatchObject({ nodeClassObservedGeneration: 3, nodes: 0 });
    expect(poolNow()?.status?.resources).toEqual({
      cpu: '0',
      memory: '0',
      pods: '0',
      'ephemeral-storage': '0',
      nodes: '0',
    });
  });

  test('follows its node class: missing, not looked at, broken, on an older revision, leaving', async () => {
    world.client.seed(nodePools, nodePool());
    await controller.reconcile('web');
    expect(conditionNow('NodeClassReady')).toMatchObject({
      status: 'False',
      reason: 'NodeClassNotFound',
    });

    world.client.seed(unikraftNodeClasses, nodeClass());
    await controller.reconcile('web');
    expect(conditionNow('NodeClassReady')?.reason).toBe('NodeClassReadinessUnknown');

    const broken = condition('Ready', 'False', { reason: 'ImageNotFound', message: 'no image' });
    world.client.seed(unikraftNodeClasses, { ...nodeClass(), status: { conditions: [broken] } });
    await controller.reconcile('web');
    expect(conditionNow('NodeClassReady')).toMatchObject({
      status: 'False',
      reason: 'ImageNotFound',
      message: 'UnikraftNodeClass "default": no image',
    });
    expect(conditionNow('Ready')).toMatchObject({ status: 'False', reason: 'UnhealthyDependents' });

    const stable = condition('Ready', 'True', { reason: 'UsingStableRevision' });
    world.client.seed(unikraftNodeClasses, { ...nodeClass(), status: { conditions: [stable] } });
    await controller.reconcile('web');
    expect(conditionNow('NodeClassReady')).toMatchObject({
      status: 'True',
      reason: 'UsingStableRevision',
    });
    expect(conditionNow('Ready')?.status).toBe('True');

    const leaving = nodeClass();
    leaving.metadata = {
      ...leaving.metadata,
      deletionTimestamp: world.clock.stamp(),
      finalizers: ['x'],
    };
    world.client.seed(unikraftNodeClasses, leaving);
    await controller.reconcile('web');
    expect(conditionNow('NodeClassReady')?.reason).toBe('NodeClassTerminating');
  });

  test('a spot-only pool fails validation even without any webhook', async () => {
    readyNodeClass();
    const spot = { key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['spot'] };
    const pool = nodePool();
    pool.spec.template.spec.requirements = [spot];
    world.client.seed(nodePools, pool);
    await controller.reconcile('web');
    expect(conditionNow('ValidationSucceeded')).toMatchObject({
      status: 'False',
      reason: 'NodePoolValidationFailed',
      message: expect.stringContaining('KPU101'),
    });
    expect(conditionNow('Ready')?.status).toBe('False');
  });

  test('what others know of the pool stands beside, and has no part in Ready', async () => {
    readyNodeClass();
    world.client.seed(nodePools, nodePool());
    const limit = {
      type: 'LimitReached',
      status: 'True',
      reason: 'cpu',
      message: '8 of 8',
    } as const;
    controller = new NodePoolController(world.context, { extraConditions: () => [limit] });
    await controller.reconcile('web');
    expect(conditionNow('LimitReached')).toMatchObject({ status: 'True', message: '8 of 8' });
    expect(conditionNow('Ready')?.status).toBe('True');
  });
});

test("another provider's pool is never written to", async () => {
  const pool = nodePool();
  pool.spec.template.spec.nodeClassRef = foreignRef;
  world.client.seed(nodePools, pool);
  await controller.reconcile('web');
  expect(world.client.writes).toEqual([]);
});

test('a second look writes nothing', async () => {
  readyNodeClass();
  world.client.seed(nodePools, nodePool());
  await controller.reconcile('web');
  const before = world.client.writes.length;
  expect(before).toBe(2); // the hash, and one status
  await world.clock.forward(seconds(60));
  await controller.reconcile('web');
  expect(world.client.writes).toHaveLength(before);
});

describe('counts', () => {
  test('a Node counts with its own capacity, a claim before it with what is predicted', async () => {
    world.client.seed(nodePools, nodePool());
    const { claim, node } = runningMachine('web-1', world.clock.stamp());
    world.client.seed(nodeClaims, claim);
    world.client.seed(nodes, {
      ...node,
      status: { ...node.status, capacity: { cpu: '8', memory: '1Gi' } },
    });
    const predicted = { status: { capacity: { cpu: '2', memory: '1Gi', pods: '10' } } };
    world.client.seed(nodeClaims, nodeClaim('web-2', predicted));
    world.client.seed(nodeClaims, nodeClaim('batch-1', predicted, 'batch'));
    await controller.reconcile('web');
    expect(poolNow()?.status?.nodes).toBe(2);
    expect(poolNow()?.status?.resources).toMatchObject({
      cpu: '10',
      memory: '2Gi',
      pods: '10',
      nodes: '2',
    });
  });

  test('change as often as they like, and are written once a second', async () => {
    readyNodeClass();
    world.client.seed(nodePools, nodePool());
    await controller.reconcile('web');
    world.client.seed(nodeClaims, nodeClaim('web-1'));
    expect(await controller.reconcile('web')).toEqual({ requeueAfter: seconds(1) });
    expect(poolNow()?.status?.nodes).toBe(0);
    world.client.seed(nodeClaims, nodeClaim('web-2'));
    await world.clock.forward(seconds(1));
    expect(await controller.reconcile('web')).toEqual({});
    expect(poolNow()?.status?.nodes).toBe(2);
  });

  test('are shown as metrics beside the limits', async () => {
    const metrics = new Metrics();
    controller = new NodePoolController(world.context, { metrics });
    world.client.seed(nodePools, nodePool({ limits: { memory: '1Gi' } }));
    world.client.seed(nodeClaims, nodeClaim('web-1', { status: { capacity: { cpu: '1500m' } } }));
    await controller.reconcile('web');
    const text = await metrics.text();
    expect(text).toContain('karpenter_nodepools_usage{resource_type="cpu",nodepool="web"} 1.5');
    expect(text).toContain(
      'karpenter_nodepools_limit{resource_type="memory",nodepool="web"} 1073741824',
    );
  });

  test('a condition does not wait for them', async () => {
    readyNodeClass();
    world.client.seed(nodePools, nodePool());
    await controller.reconcile('web');
    world.client.remove(unikraftNodeClasses, { name: 'default' });
    await controller.reconcile('web');
    expect(conditionNow('Ready')?.status).toBe('False');
  });
});

describe('the hash of the template', () => {
  test('is kept on the pool', async () => {
    world.client.seed(nodePools, nodePool());
    await controller.reconcile('web');
    expect(poolNow()?.metadata?.annotations).toEqual({
      [annotations.nodePoolHash]: nodePoolHash(nodePool()),
      [annotations.nodePoolHashVersion]: hashVersion,
    });
  });

  test('made in another way by an older version carries over: claims that matched match, others do not', async () => {
    const old = (hash: string) => ({
      [annotations.nodePoolHash]: hash,
      [annotations.nodePoolHashVersion]: 'older',
    });
    const pool = nodePool();
    pool.metadata = { ...pool.metadata, annotations: old('A') };
    world.client.seed(nodePools, pool);
    seedClaim('fresh', old('A'));
    seedClaim('stale', old('B'));
    seedClaim('unstamped', {});
    await controller.reconcile('web');
    expect(hashOf('fresh')).toBe(nodePoolHash(pool));
    expect(hashOf('stale')).toBe('B');
    expect(hashOf('unstamped')).toBeUndefined();
    expect(poolNow()?.metadata?.annotations?.[annotations.nodePoolHash]).toBe(nodePoolHash(pool));
  });

  test('lost from the pool together with a changed template does not make old machines look new', async () => {
    const stamps = {
      [annotations.nodePoolHash]: 'of-the-old-template',
      [annotations.nodePoolHashVersion]: hashVersion,
    };
    world.client.seed(nodePools, nodePool()); // as `kubectl replace` leaves it
    seedClaim('old', stamps);
    await controller.reconcile('web');
    expect(hashOf('old')).toBe('of-the-old-template');
  });

  function seedClaim(name: string, given: Record<string, string>): void {
    const claim = nodeClaim(name);
    world.client.seed(nodeClaims, {
      ...claim,
      metadata: { ...claim.metadata, annotations: given },
    });
  }

  function hashOf(name: string): string | undefined {
    return world.client.peek(nodeClaims, { name })?.metadata.annotations?.[
      annotations.nodePoolHash
    ];
  }
});
