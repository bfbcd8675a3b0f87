import {
  type Clock,
  type Duration,
  type Instant,
  milliseconds,
  minutes,
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
/** Refusals in a row that no spacing of turns helped against, the last of them a second apart: the minute is used up. */
const inVain = 6;
/** Programs that share a quota do not come back in the same moment. */
const spread = seconds(2);

/** When a call may be sent, and when that was settled. */
export interface Turn {
  readonly at: Instant;
  readonly givenAt: Instant;
}

/**
 * Turns for the calls of one action. While the cloud takes all, there is no waiting; when it refuses for the rate, turns
 * are spaced, twice as far with each further refusal, and come nearer again by an eighth with each call that passes: five
 * make up for a doubling. Turns that were given before the last slowing down are given anew; a call that was under way by
 * then says nothing of the new distance.
 * So the rate is found that the account has, which other programs share, instead of one that is written down somewhere.
 *
 * Where a quota is of a minute, as Compute Engine's are, and calls go on to be refused however far apart they are, none
 * is sent before the next minute begins.
 *
 * Source: Compute Engine docs, "API rate limits", which are counted from each minute's beginning.
 */
export class Pacing {
  readonly #clock: Clock;
  #gap: Duration = 0;
  #next: Instant = 0;
  #slowedAt: Instant = Number.NEGATIVE_INFINITY;
  readonly #isPerMinute: boolean;
  /** Refusals since the last call that passed. */
  #refusals = 0;
  /** When the next minute begins, once this one is used up: turns that were given before are not taken. */
  #closedUntil: Instant = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, { isPerMinute = false }: { isPerMinute?: boolean } = {}) {
    this.#clock = clock;
    this.#isPerMinute = isPerMinute;
  }

  /**
   * Waits for the turn of a call.
   *
   * @throws Throttled without any call when the turn is more than five seconds away, or the quota of the minute is used up
   */
  async turn(): Promise<Turn> {
    const now = this.#clock.now();
    const at = Math.max(now, this.#next);
    if (at - now > farthest) {
      throw new Throttled(
        'The cloud asked to slow down, and more calls wait already than pass soon',
      );
    }
    this.#next = at + this.#gap;
    if (at > now) await this.#clock.sleep(at - now);
    if (this.#slowedAt > now) return this.turn(); // given at a rate that was too high
    if (this.#clock.now() < this.#closedUntil) {
      throw new Throttled(
        'The calls of this minute are used up; the next ones are made in the next',
      );
    }
    return { at, givenAt: now };
  }

  /** Those that were given their turns together count as one. */
  refused({ givenAt }: Turn): void {
    if (givenAt <= this.#slowedAt) return;
    const now = this.#clock.now();
    this.#slowedAt = now;
    this.#refusals += 1;
    if (this.#isPerMinute && this.#refusals >= inVain) {
      this.#awaitMinute(now);
      return;
    }
    this.#gap = Math.min(longest, Math.max(first, this.#gap * 2));
    this.#next = now + this.#gap;
  }

  /** A new minute is a new quota: calls begin again at the rate that most quotas allow. */
  #awaitMinute(now: Instant): void {
    const left = minutes(1) - (Date.parse(this.#clock.stamp()) % minutes(1));
    this.#refusals = 0;
    this.#gap = first;
    this.#closedUntil = now + left;
    this.#next = this.#closedUntil + Math.random() * spread;
  }

  /**
   * Of every call that was not refused for its rate, whatever its answer: "not found" was let through too. What was under
   * way when turns were slowed down says nothing of how far apart they have to be.
   */
  passed({ givenAt }: Turn): void {
    if (givenAt <= this.#slowedAt) return;
    this.#refusals = 0;
    this.#gap = this.#gap < milliseconds(10) ? 0 : this.#gap * 0.875;
  }
}
