import { type Clock, type Duration, hours } from '#schemas/time/clock.ts';

import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type BackOff, defaultBackOff, waitAfter } from './back-off.ts';
import { type ControllerMetrics, controllerMetrics } from './controller-metrics.ts';
import type { Result, Runnable } from './reconciler.ts';

export interface SingletonOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
  readonly backOff?: BackOff | undefined;
  readonly random?: (() => number) | undefined;
}

/** One round of a loop; nothing returned: the next one comes after the loop's interval. */
export type Round = (signal: AbortSignal) => Promise<Result | void>;

/**
 * A loop that looks at the world as a whole: it runs, then waits, and so on. Rounds never overlap; one that throws is
 * logged, counted and followed by a wait that grows with each failure in a row.
 *
 * @param interval the wait after a round that asks for none with `requeueAfter`
 * @example singleton('instance.collection', minutes(2), (signal) => collector.collect(signal), { clock, log })
 */
export function singleton(
  name: string,
  interval: Duration,
  round: Round,
  options: SingletonOptions,
): Runnable {
  return new Singleton(name, interval, round, options);
}

/** What a timer of Node holds without firing at once; see work-queue.ts. */
const longestWait: Duration = hours(24);

class Singleton implements Runnable {
  readonly name: string;
  readonly #interval: Duration;
  readonly #round: Round;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #backOff: BackOff;
  readonly #random: () => number;
  #failures = 0;

  constructor(name: string, interval: Duration, round: Round, options: SingletonOptions) {
    this.name = name;
    this.#interval = interval;
    this.#round = round;
    this.#clock = options.clock;
    this.#log = options.log.child({ controller: name });
    this.#metrics = controllerMetrics(options.metrics, name, 1);
    this.#backOff = options.backOff ?? defaultBackOff;
    this.#random = options.random ?? Math.random;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one round after the other is the point
      const wait = await this.#once(signal);
      // oxlint-disable-next-line no-await-in-loop -- one round after the other is the point
      await this.#clock.sleep(Math.min(wait, longestWait), signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  /** @returns how long to wait now */
  async #once(signal: AbortSignal): Promise<Duration> {
    const began = this.#clock.now();
    this.#metrics.started();
    try {
      const result = await this.#round(signal);
      this.#failures = 0;
      this.#metrics.ended('success', this.#clock.now() - began);
      const wait = result?.requeueAfter ?? this.#interval;
      return wait > 0 ? wait : waitAfter(1, this.#backOff, this.#random());
    } catch (error) {
      this.#failures += 1;
      this.#metrics.ended(signal.aborted ? 'requeue' : 'error', this.#clock.now() - began);
      return this.#failed(error, signal);
    }
  }

  #failed(error: unknown, signal: AbortSignal): Duration {
    const wait = waitAfter(this.#failures, this.#backOff, this.#random());
    const facts = { err: error, failures: this.#failures, retryInMs: Math.round(wait) };
    if (!signal.aborted) this.#log.error(facts, 'round failed');
    return wait;
  }
}
