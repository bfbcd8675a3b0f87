import type { Duration } from '#schemas/time/clock.ts';

import type { Metrics } from '../metrics.ts';

export interface QueueMetrics {
  added(): void;
  retried(): void;
  /** A key was taken after it had waited so long. */
  waited(time: Duration): void;
  /** A key was given back after so long. */
  worked(time: Duration): void;
  stop(): void;
}

interface Observed {
  readonly depth: number;
  readonly inHandFor: readonly Duration[];
}

/** The numbers of one queue, under the names that dashboards for controller-runtime know. */
export function queueMetrics(metrics: Metrics, name: string, queue: Observed): QueueMetrics {
  const labels = { name };
  const counter = (metric: string, help: string): { inc(): void } => {
    const counted = metrics.counter(`workqueue_${metric}`, help, ['name']).labels(labels);
    counted.inc(0);
    return counted;
  };
  const timer = (metric: string, help: string): ((time: Duration) => void) => {
    const histogram = metrics.histogram(`workqueue_${metric}`, help, ['name'], buckets);
    return (time) => histogram.observe(labels, time / 1000);
  };
  const sample = (metric: string, help: string, read: () => number): (() => void) =>
    metrics.sample(`workqueue_${metric}`, help, labels, read);

  const adds = counter('adds_total', 'Keys that were put in line.');
  const retries = counter('retries_total', 'Keys that were put back because they failed.');
  const samples = [
    sample('depth', 'Keys that wait.', () => queue.depth),
    sample('unfinished_work_seconds', 'Seconds that all keys in hand have taken so far.', () =>
      queue.inHandFor.reduce((sum, time) => sum + time / 1000, 0),
    ),
    sample('longest_running_processor_seconds', 'Age of the oldest key in hand.', () =>
      Math.max(0, ...queue.inHandFor.map((time) => time / 1000)),
    ),
  ];
  return {
    added: () => adds.inc(),
    retried: () => retries.inc(),
    waited: timer('queue_duration_seconds', 'How long a key waits before it is taken.'),
    worked: timer('work_duration_seconds', 'How long the work on a key takes.'),
    stop: () => {
      for (const end of samples) end();
    },
  };
}

/** Powers of ten from a microsecond to a quarter of an hour, as controller-runtime has them. */
const buckets = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000];
