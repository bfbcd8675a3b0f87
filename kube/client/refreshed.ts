import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

/**
 * A value that is read again once it is too old, and on demand.
 *
 * When reading again fails, the old value stands: a token whose file is being exchanged is mostly still good, and if it
 * is not, the API server says so.
 */
export class Refreshed<T> {
  readonly #load: (previous: T | undefined) => Promise<T>;
  readonly #clock: Clock;
  readonly #maxAge: Duration;
  #value: T | undefined;
  #readAt: Instant = Number.NEGATIVE_INFINITY;
  #reading: Promise<T> | undefined;

  /** @param load gets the present value, so that it can hand it back when nothing changed */
  constructor(load: (previous: T | undefined) => Promise<T>, clock: Clock, maxAge: Duration) {
    this.#load = load;
    this.#clock = clock;
    this.#maxAge = maxAge;
  }

  async get(options: { fresh?: boolean } = {}): Promise<T> {
    const isYoung = this.#clock.now() - this.#readAt < this.#maxAge;
    if (this.#value !== undefined && isYoung && !options.fresh) return this.#value;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #read(): Promise<T> {
    try {
      this.#value = await this.#load(this.#value);
    } catch (error) {
      if (this.#value === undefined) throw error;
    }
    this.#readAt = this.#clock.now();
    return this.#value;
  }
}
