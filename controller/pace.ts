import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

/**
 * Keeps counts in a status from being written more often than anybody reads them: while machines come and go they
 * change many times a second.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #interval: Duration;
  /** When counts were last written, by UID. */
  readonly #written = new Map<string, Instant>();

  constructor(clock: Clock, interval: Duration) {
    this.#clock = clock;
    this.#interval = interval;
  }

  /** How long a write that brings nothing but counts has to wait; 0 or less: not at all. */
  pause(uid: string): Duration {
    const last = this.#written.get(uid);
    return last === undefined ? 0 : last + this.#interval - this.#clock.now();
  }

  wrote(uid: string): void {
    this.#written.set(uid, this.#clock.now());
  }

  forget(uid: string): void {
    this.#written.delete(uid);
  }
}
