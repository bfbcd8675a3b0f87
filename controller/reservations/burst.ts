import { seconds, type Clock, type Duration, type Instant } from '#schemas/time/clock.ts';

/** An API server that hardly answers must not keep machines from the claims that are written. */
const longest: Duration = seconds(5);

/**
 * The claims of one plan are all written, and take their room together, before any of them is worked on: each sends a dozen
 * calls and computes for some milliseconds, and with 200 of them the last one was written a second later for it. What is
 * worked on already goes on meanwhile.
 */
export class Burst {
  readonly #clock: Pick<Clock, 'now'>;
  #running = 0;
  #since: Instant = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Whether claims that nothing was done for yet are to wait. */
  get isUnderWay(): boolean {
    return this.#running > 0 && this.#clock.now() - this.#since < longest;
  }

  /** @param write  what may compete with nothing new */
  async during(write: () => Promise<void>): Promise<void> {
    if (this.#running === 0) this.#since = this.#clock.now();
    this.#running += 1;
    await write().finally(() => (this.#running -= 1));
  }
}
