import { type Clock, type Duration, type Instant, minutes, seconds } from '#schemas/time/clock.ts';

import { CloudUnreachable } from './errors.ts';

/** A connection may drop, and the next call find another: so many failures in a row are more than that. */
const tolerated = 3;
const first = seconds(5);
const longest = minutes(1);

/**
 * Whether one endpoint of a cloud can be reached. When it cannot, whoever wants something of it is told so at once, and
 * one call after each pause finds out whether it is there again. So an outage costs at most two calls a minute, however
 * many machines wait for it, and no worker hangs on a connection that nobody answers while machines elsewhere wait.
 */
export class Reach {
  readonly #clock: Clock;
  readonly #what: string;
  #failures = 0;
  #next: Instant = 0;
  #closedAt: Instant = Number.NEGATIVE_INFINITY;
  #words = '';

  /** @param what  as the beginning of a sentence: `EC2 in eu-central-1` */
  constructor(clock: Clock, what: string) {
    this.#clock = clock;
    this.#what = what;
  }

  /**
   * @returns when the call may be sent: now
   * @throws CloudUnreachable when it may not
   */
  turn(): Instant {
    const now = this.#clock.now();
    if (this.#failures < tolerated) return now;
    if (now < this.#next) {
      throw new CloudUnreachable(
        `${this.#what} does not answer (${this.#words}); one call a minute finds out when it does again`,
      );
    }
    this.#next = now + longest; // what becomes of this one is known before that
    return now;
  }

  /** @param sentAt  of the call: those that were under way together when it was one too many count as one */
  failed(sentAt: Instant, why: Error): void {
    if (sentAt <= this.#closedAt) return;
    this.#failures += 1;
    this.#words = why.message.slice(0, 200);
    const over = this.#failures - tolerated;
    if (over < 0) return;
    const pause: Duration = Math.min(longest, first * 2 ** Math.min(over, 10));
    this.#closedAt = this.#clock.now();
    this.#next = this.#closedAt + pause;
  }

  /** Whatever the answer was. */
  answered(): void {
    this.#failures = 0;
  }
}
