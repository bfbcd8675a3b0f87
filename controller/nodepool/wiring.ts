import type { Metrics } from '#kube/metrics.ts';
import { Controller, watch } from '#kube/runtime/controller.ts';
import { paced } from '#kube/runtime/paced.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';
import { milliseconds, type Duration } from '#schemas/time/clock.ts';

import { by } from '../caches.ts';
import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import { NodePoolController, type ExtraConditions } from './controller.ts';

/** Each look sums up all machines of a pool, and what comes of it is written once a second. */
const counted: Duration = milliseconds(500);

/**
 * The NodePool controller with what wakes it: pools, their node classes, quota policies, and machines whose capacity
 * counts.
 * Whoever gives extra conditions enqueues the pool when they change.
 */
export function nodePoolController(
  context: Context,
  options: { extraConditions?: ExtraConditions },
  metrics: Metrics,
): Controller {
  const { caches, clock, log } = context;
  return new Controller({
    name: 'nodepool',
    reconciler: new NodePoolController(context, { ...options, metrics }),
    concurrency: 10,
    clock,
    log,
    metrics,
    watches: [
      watch(caches.nodePools, (pool) => (isOurs(pool) ? [pool.metadata.name] : [])),
      watch(caches.nodeClasses, ({ metadata }) =>
        caches.nodePools
          .by(by.nodeClass, metadata.name)
          .filter(isOurs)
          .map((pool) => pool.metadata.name),
      ),
      watch(caches.quotaPolicies, ({ metadata }, other) =>
        other && other.metadata.generation === metadata.generation
          ? []
          : caches.nodePools
              .list()
              .filter(isOurs)
              .map((pool) => pool.metadata.name),
      ),
      ...[
        watch(caches.nodeClaims, (claim, other) => (counts(claim, other) ? poolOf(claim) : [])),
        watch(caches.nodes, (node, other) => (counts(node, other) ? poolOf(node) : [])),
      ].map((machines) => paced(machines, clock, counted)),
    ],
  });
}

function counts(object: Node | NodeClaim, other: Node | NodeClaim | undefined): boolean {
  return (
    JSON.stringify(object.status?.capacity) !== JSON.stringify(other?.status?.capacity) ||
    object.metadata?.labels?.[labels.nodePool] !== other?.metadata?.labels?.[labels.nodePool]
  );
}

function poolOf({ metadata }: Node | NodeClaim): string[] {
  const pool = metadata?.labels?.[labels.nodePool];
  return pool === undefined ? [] : [pool];
}
