import type { Metrics } from '#kube/metrics.ts';
import { seconds, type Duration } from '#schemas/time/clock.ts';

/**
 * What people ask of a process first. The usual collectors look at each garbage collection as well, of which there are
 * a hundred a second when much is to do: that was a tenth of the cost of a review.
 *
 * @param delay what a turn of the event loop takes
 */
export function showProcess(metrics: Metrics, delay: () => Duration): void {
  const show = (name: string, help: string, read: () => number): void => {
    metrics.sample(name, help, {}, read);
  };
  show('process_resident_memory_bytes', 'Memory held.', () => process.memoryUsage.rss());
  show('nodejs_heap_size_used_bytes', 'Of it, objects.', () => process.memoryUsage().heapUsed);
  show('process_cpu_seconds', 'Processor time used, of all threads.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  show(
    'nodejs_eventloop_delay_seconds',
    'What a turn of the event loop takes, the median of about a second; from 0.2 calls are refused.',
    () => delay() / seconds(1),
  );
}
