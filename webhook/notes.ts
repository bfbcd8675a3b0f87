import { seconds, type Clock } from '#schemas/time/clock.ts';

/** Notes that wait at most, and for how long. */
const most = 64;
const longest = seconds(1);

/**
 * What is counted and logged of reviews, some at a time. Between two reviews other programs have had the processor, and
 * the code that logs is large: for each review alone it took longer than all decisions, and a dozen in a row take as long
 * as two or three.
 */
export class Notes {
  readonly #clock: Clock;
  readonly #most: number;
  #waiting: (() => void)[] = [];
  #cancel: () => void = () => {};

  /** @param atOnce  that many are taken together; 1: each at once */
  constructor(clock: Clock, atOnce = most) {
    this.#clock = clock;
    this.#most = atOnce;
  }

  /** @param note  must not throw */
  add(note: () => void): void {
    this.#waiting.push(note);
    if (this.#waiting.length >= this.#most) this.flush();
    else if (this.#waiting.length === 1) {
      this.#cancel = this.#clock.after(longest, () => this.flush());
    }
  }

  /** Takes all that wait now, as before a process ends. */
  flush(): void {
    this.#cancel();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const note of waiting) note();
  }
}
