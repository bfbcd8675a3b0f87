import type { Metrics } from '#kube/metrics.ts';
import { Controller, watch } from '#kube/runtime/controller.ts';
import { paced } from '#kube/runtime/paced.ts';
import { annotations, labels } from '#schemas/names.ts';
import { milliseconds, type Duration } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import { NodeClassController, type NodeClassOptions } from './controller.ts';

/** Of claims only their number is of interest, and which revisions they keep: neither is so urgent. */
const counted: Duration = milliseconds(500);

/** The node class controller with what wakes it: the classes, their claims and pools, and their revisions. */
export function nodeClassController(
  context: Context,
  options: NodeClassOptions,
  metrics: Metrics,
): Controller {
  const { caches, clock, log } = context;
  return new Controller({
    name: 'nodeclass',
    reconciler: new NodeClassController(context, options),
    concurrency: 4,
    clock,
    log,
    metrics,
    watches: [
      watch(caches.nodeClasses),
      paced(
        watch(caches.nodeClaims, (claim, other) => {
          const isNews = !other || revisionOf(claim) !== revisionOf(other);
          return isOurs(claim) && isNews ? [claim.spec.nodeClassRef.name] : [];
        }),
        clock,
        counted,
      ),
      watch(caches.nodePools, (pool) =>
        isOurs(pool) ? [pool.spec.template.spec.nodeClassRef.name] : [],
      ),
      watch(caches.revisions, ({ metadata }) => {
        const nodeClass = metadata.labels?.[labels.nodeClass];
        return nodeClass === undefined ? [] : [nodeClass];
      }),
    ],
  });
}

function revisionOf({
  metadata,
}: {
  metadata: { annotations?: Record<string, string> };
}): string | undefined {
  return metadata.annotations?.[annotations.revision];
}
