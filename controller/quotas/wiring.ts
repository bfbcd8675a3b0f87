import type { Metrics } from '#kube/metrics.ts';
import { Controller, watch } from '#kube/runtime/controller.ts';

import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import type { Reservations } from '../reservations/reservations.ts';
import { QuotaPolicyController } from './controller.ts';

/** The controller of quota policies with what wakes it: each policy, pool, node class and reservation concerns all. */
export function quotaPolicyController(
  context: Context,
  reservations: Reservations,
  metrics: Metrics,
): Controller {
  const { caches, clock, log } = context;
  const all = (): string[] => caches.quotaPolicies.list().map(({ metadata }) => metadata.name);
  const controller = new Controller({
    name: 'quotapolicy',
    reconciler: new QuotaPolicyController(context, reservations),
    concurrency: 2,
    clock,
    log,
    metrics,
    watches: [
      watch(caches.quotaPolicies, ({ metadata }, other) =>
        other && other.metadata.generation === metadata.generation ? [metadata.name] : all(),
      ),
      watch(caches.nodePools, (pool, other) =>
        isOurs(pool) && facts(pool) !== (other && facts(other)) ? all() : [],
      ),
      watch(caches.nodeClasses, (nodeClass, other) =>
        nodeClass.metadata.generation === other?.metadata.generation ? [] : all(),
      ),
      watch(caches.reservations, all),
    ],
  });
  reservations.subscribe(() => all().forEach((name) => controller.enqueue(name)));
  return controller;
}

/** What policies look at; the status of a pool changes far more often. */
function facts({ metadata }: { metadata: { generation?: number; labels?: object } }): string {
  return JSON.stringify([metadata.generation, metadata.labels]);
}
