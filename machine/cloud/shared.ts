import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

import { until } from '../until.ts';

interface Entry<T> {
  readonly promise: Promise<T>;
  readonly asked: Instant;
  isUnderWay: boolean;
}

/**
 * One answer for many callers: a result is kept for `ttl`, counted from when it was asked for, and callers that come
 * while it is under way wait for the same one, however long it takes: a second call would only make a slow cloud
 * slower. A failure is not kept. One caller's abort ends only its own wait.
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
    return until(known && this.#serves(known) ? known.promise : this.#ask(key, ask), signal);
  }

  #serves({ isUnderWay, asked }: Entry<T>): boolean {
    return isUnderWay || this.#clock.now() - asked < this.#ttl;
  }

  async #ask(key: string, ask: () => Promise<T>): Promise<T> {
    const entry: Entry<T> = { promise: ask(), asked: this.#clock.now(), isUnderWay: true };
    this.#entries.set(key, entry);
    try {
      return await entry.promise;
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      throw error;
    } finally {
      entry.isUnderWay = false;
    }
  }
}
