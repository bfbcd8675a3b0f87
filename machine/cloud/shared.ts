import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

import { until } from '../until.ts';

interface Entry<T> {
  readonly promise: Promise<T>;
  readonly asked: Instant;
}

/**
 * One answer for many callers: a result is kept for `ttl`, counted from when it was asked for, and callers that come
 * while it is under way wait for the same one. A failure is not kept. One caller's abort ends only its own wait.
 */
export class Shared<T> {
  readonly #clock: Clock;
  readonly #ttl: Duration;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(clock: Clock, ttl: Duration) {
    this.#clock = clock;
    this.#ttl = ttl;
  }

  async get(key: string, ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const known = this.#entries.get(key);
    const isFresh = known !== undefined && this.#clock.now() - known.asked < this.#ttl;
    return until(isFresh ? known.promise : this.#ask(key, ask), signal);
  }

  async #ask(key: string, ask: () => Promise<T>): Promise<T> {
    const entry = { promise: ask(), asked: this.#clock.now() };
    this.#entries.set(key, entry);
    try {
      return await entry.promise;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    }
  }
}
