import type { Clock, Duration } from '#schemas/time/clock.ts';

import { ApiError, isConflict } from '../client/errors.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { BackOff } from './back-off.ts';
import {
  type ControllerMetrics,
  controllerMetrics,
  type ReconcileResult,
} from './controller-metrics.ts';
import type { Reconciler, Result, Runnable } from './reconciler.ts';
import type { Watch } from './watch.ts';
import { WorkQueue } from './work-queue.ts';

export { type KeysOf, watch, type Watch } from './watch.ts';

export interface ControllerOptions {
  /** Lower-case with dots, `nodeclaim.lifecycle`: names its logs, metrics and queue. */
  readonly name: string;
  readonly reconciler: Reconciler;
  /** How many keys are in hand at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
  /** The caches that it reads or is woken by; none of its keys is touched before all of them are full. */
  readonly watches: readonly Watch[];
  readonly backOff?: BackOff | undefined;
  readonly random?: (() => number) | undefined;
}

/**
 * Runs a reconciler for every key that its watches name.
 *
 * A reconcile that throws is logged, counted and repeated with back-off; nothing that it does ends the controller.
 *
 * @example
 * new Controller({
 *   name: 'nodepool.readiness', reconciler, concurrency: 10, clock, log, metrics,
 *   watches: [watch(caches.nodePools), watch(caches.nodeClasses, (nodeClass) => poolsOf(nodeClass))],
 * });
 */
export class Controller implements Runnable {
  readonly name: string;
  readonly #reconciler: Reconciler;
  readonly #concurrency: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #watches: readonly Watch[];
  readonly #queue: WorkQueue;

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#reconciler = options.reconciler;
    this.#concurrency = options.concurrency;
    this.#clock = options.clock;
    this.#log = options.log.child({ controller: options.name });
    this.#metrics = controllerMetrics(options.metrics, options.name, options.concurrency);
    this.#watches = options.watches;
    this.#queue = new WorkQueue(options);
  }

  /** Has a key looked at soon; also before {@link Controller.run}. */
  enqueue(key: string): void {
    this.#queue.add(key);
  }

  /** Has a key looked at after a while; of several waits the shortest counts. */
  enqueueAfter(key: string, delay: Duration): void {
    this.#queue.addAfter(key, delay);
  }

  /** Ends after the signal aborts and the keys in hand are given back. Runs once. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#queue.stop();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const subscriptions = this.#watches.map((one) => this.#subscribe(one));
    try {
      await this.#synced(signal);
      const workers = Array.from({ length: this.#concurrency }, async () => this.#work(signal));
      await Promise.all(workers);
    } finally {
      for (const end of subscriptions) end();
      signal.removeEventListener('abort', stop);
    }
  }

  #subscribe(one: Watch): () => void {
    return one.subscribe(
      (key) => this.enqueue(key),
      (error) =>
        this.#log.error({ err: error, kind: one.kind }, 'cannot tell whom a change concerns'),
    );
  }

  async #synced(signal: AbortSignal): Promise<void> {
    try {
      await Promise.all(this.#watches.map(async (one) => one.whenSynced(signal)));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- a worker has one key in hand
      const key = await this.#queue.next();
      if (key === undefined) return;
      // oxlint-disable-next-line no-await-in-loop -- a worker has one key in hand
      await this.#process(key, signal);
      this.#queue.done(key);
    }
  }

  async #process(key: string, signal: AbortSignal): Promise<void> {
    const began = this.#clock.now();
    this.#metrics.started();
    let ended: ReconcileResult;
    try {
      ended = this.#succeeded(key, await this.#reconciler.reconcile(key, signal));
    } catch (error) {
      ended = this.#failed(key, error, signal);
    }
    this.#metrics.ended(ended, this.#clock.now() - began);
  }

  #succeeded(key: string, { requeueAfter }: Result): ReconcileResult {
    if (requeueAfter !== undefined && !(requeueAfter > 0)) {
      // "At once" (a deadline just passed, or a mistake in arithmetic) must not become a hot loop.
      this.#queue.retry(key);
      return 'requeue';
    }
    this.#queue.forget(key);
    if (requeueAfter === undefined || requeueAfter === Infinity) return 'success';
    this.#queue.addAfter(key, requeueAfter);
    return 'requeue_after';
  }

  #failed(key: string, error: unknown, signal: AbortSignal): ReconcileResult {
    if (signal.aborted) {
      this.#log.debug({ key, err: error }, 'reconcile was cut short by the end of the process');
      return 'requeue';
    }
    const retryIn = this.#queue.retry(key, error instanceof ApiError ? error.retryAfter : 0);
    const facts = { key, failures: this.#queue.failures(key), retryInMs: Math.round(retryIn) };
    if (isConflict(error)) {
      this.#log.debug({ ...facts, err: error }, 'somebody else wrote first, will look again');
      return 'requeue';
    }
    this.#log.error({ ...facts, err: error }, 'reconcile failed');
    return 'error';
  }
}
