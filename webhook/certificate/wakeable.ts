import type { Clock, Duration } from '#schemas/time/clock.ts';

/** Sleeps that can be cut short. A call to wake while nobody sleeps cuts the next sleep short: no change is missed. */
export class Wakeable {
  readonly #clock: Clock;
  #woken = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(): void {
    this.#woken.resolve();
  }

  /** Resolves after `duration`, when it is woken, or when the signal aborts; never rejects. */
  async sleep(duration: Duration, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    await Promise.race([this.#clock.sleep(duration, either), this.#woken.promise]).catch(() => {});
    over.abort();
    this.#woken = Promise.withResolvers<void>();
  }
}
