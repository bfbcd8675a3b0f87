import type { Duration } from '#schemas/time/clock.ts';

/** Look again after a while even if nothing changes; absent: only when something changes. */
export interface Result {
  readonly requeueAfter?: Duration;
}

/**
 * Brings what one key names nearer to what it should be.
 *
 * It gets the key only and reads the rest anew, so that a lost or doubled event changes nothing. One key is never
 * in two hands at once. A thrown error is logged, counted and tried again with back-off per key.
 */
export interface Reconciler {
  /** @param key `namespace/name`, or `name` @param signal aborts when leadership or the process ends */
  reconcile(key: string, signal: AbortSignal): Promise<Result>;
}

/** Anything the manager starts and stops; `run` ends after the signal aborts. */
export interface Runnable {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}
