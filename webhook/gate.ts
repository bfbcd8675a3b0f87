import { monitorEventLoopDelay } from 'node:perf_hooks';

import { milliseconds, seconds, type Duration } from '#schemas/time/clock.ts';

import { Refusal } from './refusal.ts';

export interface GateLimits {
  /** Calls under way at once, of hooks that shed. One takes less than a millisecond once its body is there. */
  readonly calls: number;
  /** Bytes of bodies under way at once, of all hooks: a quarter of the memory that a replica has. */
  readonly bytes: number;
  /** What a turn of the event loop may take for a while; a call that waits longer is of no use to its Pod. */
  readonly delay: Duration;
}

const usual: GateLimits = { calls: 256, bytes: 64 * 1024 * 1024, delay: milliseconds(200) };

/**
 * Lets calls in while there is room. Refusing one costs next to nothing, and keeping it waiting costs whoever makes the
 * Pod the whole timeout, so what cannot be answered soon is refused at once.
 */
export class Gate {
  readonly #limits: GateLimits;
  readonly #delay: () => Duration;
  #calls = 0;
  #bytes = 0;

  /** @param delay what a turn of the event loop takes */
  constructor(delay: () => Duration = eventLoopDelay(), limits: Partial<GateLimits> = {}) {
    this.#delay = delay;
    this.#limits = { ...usual, ...limits };
  }

  /** Calls that are inside. */
  get calls(): number {
    return this.#calls;
  }

  /**
   * @param bytes of the body to come
   * @returns lets the next one in; once
   * @throws Refusal 503
   */
  enter(bytes: number, { sheds }: { sheds: boolean }): () => void {
    const { calls, bytes: room, delay } = this.#limits;
    const crowded = sheds && (this.#calls >= calls || this.#delay() > delay);
    if (crowded || this.#bytes + bytes > room) throw new Refusal(503, 'too much to do');
    this.#calls += 1;
    this.#bytes += bytes;
    return () => {
      this.#calls -= 1;
      this.#bytes -= bytes;
    };
  }
}

/** How long one look at the event loop counts. */
const window = seconds(1);

/**
 * What a turn of this process's event loop takes, as the median of about the last second: a single long turn, as one
 * large review takes, delays others once and is no reason to turn any away.
 */
export function eventLoopDelay(now: () => number = () => performance.now()): () => Duration {
  const histogram = monitorEventLoopDelay({ resolution: 10 });
  histogram.enable();
  let median = 0;
  let since = now();
  return () => {
    if (now() - since < window) return median;
    median = histogram.count > 0 ? histogram.percentile(50) / 1e6 : 0;
    histogram.reset();
    since = now();
    return median;
  };
}
