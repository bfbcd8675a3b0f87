import { seconds, type Clock, type Duration, type Instant } from '#schemas/time/clock.ts';

/** Nothing came for so long that there can be nobody at the other end. */
export class WatchSilent extends Error {
  override readonly name = 'WatchSilent';

  constructor(silence: Duration) {
    super(`nothing came for ${silence / 1000} s: the connection is taken for dead`);
  }
}

/** How often it looks; a look is local and costs nothing that counts. */
const lookEvery = seconds(30);

/**
 * Aborts a watch that has fallen silent. It looks now and then at when something was last heard, so that an event costs a
 * note and no timer, and patience may change on the way.
 */
export class IdleGuard {
  /** Aborts with {@link WatchSilent}, or with the reason of the outer signal. */
  readonly signal: AbortSignal;
  readonly #clock: Clock;
  readonly #patience: () => Duration;
  readonly #silent = new AbortController();
  #lastHeard: Instant;
  #cancel: () => void = () => {};

  constructor(clock: Clock, outer: AbortSignal, patience: () => Duration) {
    this.#clock = clock;
    this.#patience = patience;
    this.signal = AbortSignal.any([outer, this.#silent.signal]);
    this.#lastHeard = clock.now();
    this.#arm();
  }

  /** Something came. */
  heard(): void {
    this.#lastHeard = this.#clock.now();
  }

  stop(): void {
    this.#cancel();
  }

  #arm(): void {
    const left = this.#lastHeard + this.#patience() - this.#clock.now();
    this.#cancel = this.#clock.after(Math.min(left, lookEvery), () => {
      const silence = this.#clock.now() - this.#lastHeard;
      if (silence >= this.#patience()) this.#silent.abort(new WatchSilent(silence));
      else this.#arm();
    });
  }
}
