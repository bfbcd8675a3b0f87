import type { Duration } from '#schemas/time/clock.ts';

import type { Metrics } from '../metrics.ts';

/** How a reconcile ended, as controller-runtime names it. */
export type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after';

export interface ControllerMetrics {
  started(): void;
  ended(result: ReconcileResult, time: Duration): void;
}

/** The numbers of one controller, under the names that dashboards for controller-runtime know. */
export function controllerMetrics(
  metrics: Metrics | undefined,
  controller: string,
  concurrency: number,
): ControllerMetrics {
  if (!metrics) return { started: () => {}, ended: () => {} };
  const labels = { controller };
  const name = (rest: string): string => `controller_runtime_${rest}`;
  const total = metrics.counter(name('reconcile_total'), 'Reconciles, by how they ended.', [
    'controller',
    'result',
  ]);
  const errors = metrics
    .counter(name('reconcile_errors_total'), 'Reconciles that failed.', ['controller'])
    .labels(labels);
  const time = metrics.histogram(name('reconcile_time_seconds'), 'How long a reconcile takes.', [
    'controller',
  ]);
  const active = metrics
    .gauge(name('active_workers'), 'Reconciles that are running.', ['controller'])
    .labels(labels);
  metrics
    .gauge(name('max_concurrent_reconciles'), 'Reconciles that may run at once.', ['controller'])
    .set(labels, concurrency);
  for (const result of ['success', 'error', 'requeue', 'requeue_after'] as const) {
    total.inc({ controller, result }, 0);
  }
  errors.inc(0);
  active.set(0);
  return {
    started: () => active.inc(),
    ended: (result, duration) => {
      active.dec();
      total.inc({ controller, result });
      if (result === 'error') errors.inc();
      time.observe(labels, duration / 1000);
    },
  };
}
