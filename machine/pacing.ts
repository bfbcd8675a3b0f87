import {
  type Clock,
  type Duration,
  type Instant,
  milliseconds,
  seconds,
} from '#schemas/time/clock.ts';

import { Throttled } from './errors.ts';

/**
 * Between two calls once the cloud asked to slow down: twenty a second, what EC2 refills of most buckets, and close to
 * the 1,500 a minute that Compute Engine allows of most groups of methods.
 */
const first = milliseconds(50);
const longest = seconds(1);
/** A turn that is further away is refused at once: who waits inside a call does nothing else meanwhile. */
const farthest = seconds(5);

/**
 * Turns for the calls of one action. While the cloud takes all, there is no waiting; when it refuses for the rate, turns
 * are spaced, twice as far with each further refusal, and come nearer again by a twentieth with each call that passes.
 * So the rate is found that the account has, which other programs share, instead of one that is written down somewhere.
 */
export class Pacing {
  readonly #clock: Clock;
  #gap: Duration = 0;
  #next: Instant = 0;
  #slowedAt: Instant = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits for the turn of a call.
   *
   * @returns when it came
   * @throws Throttled without any call when the turn is more than five seconds away
   */
  async turn(): Promise<Instant> {
    const now = this.#clock.now();
    const at = Math.max(now, this.#next);
    if (at - now > farthest) {
      throw new Throttled(
        'The cloud asked to slow down, and more calls wait already than pass soon',
      );
    }
    this.#next = at + this.#gap;
    if (at > now) await this.#clock.sleep(at - now);
    return at;
  }

  /** @param sentAt  of the call that was refused: those that were under way together count as one */
  refused(sentAt: Instant): void {
    if (sentAt <= this.#slowedAt) return;
    const now = this.#clock.now();
    this.#slowedAt = now;
    this.#gap = Math.min(longest, Math.max(first, this.#gap * 2));
    this.#next = Math.max(this.#next, now + this.#gap);
  }

  passed(): void {
    this.#gap = this.#gap < milliseconds(10) ? 0 : this.#gap * 0.95;
  }
}
