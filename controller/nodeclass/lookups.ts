import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

/** How long an answer is good for, and how the pauses after failures grow. */
export interface Pace {
  readonly fresh: Duration;
  readonly first: Duration;
  /** The longest pause; equal to `first` where looking is cheap. */
  readonly longest: Duration;
}

interface Answer {
  readonly until: Instant;
  readonly failures: number;
  readonly give: () => unknown;
}

/**
 * Remembers what was looked up in the world outside, so that a reconcile may ask as often as it likes: a node class
 * is reconciled on every change of its claims and pools, and its cloud need not hear of each.
 *
 * Failures are remembered as well, for a pause that doubles with each. Nothing here outlives the process, and
 * nothing is lost by that.
 */
export class Lookups {
  readonly #clock: Clock;
  /** By subject (the UID of a node class), then by what was asked. */
  readonly #answers = new Map<string, Map<string, Answer>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The answer that is known, or a new one. Rejects with the remembered error as well. */
  async ask<T>(subject: string, question: string, pace: Pace, look: () => Promise<T>): Promise<T> {
    const answers = this.#answers.get(subject) ?? new Map<string, Answer>();
    this.#answers.set(subject, answers);
    const known = answers.get(question);
    if (known && known.until > this.#clock.now()) return known.give() as T;
    try {
      const value = await look();
      answers.set(question, { until: this.#in(pace.fresh), failures: 0, give: () => value });
      return value;
    } catch (error) {
      const failures = (known?.failures ?? 0) + 1;
      const pause = Math.min(pace.longest, pace.first * 2 ** Math.min(failures - 1, 20));
      const give = (): never => {
        throw error;
      };
      answers.set(question, { until: this.#in(pause), failures, give });
      throw error;
    }
  }

  /** Forgets the answers to questions that begin otherwise, so that a spec that comes back is looked at anew. */
  keepOnly(subject: string, prefix: string): void {
    const answers = this.#answers.get(subject);
    for (const question of answers?.keys() ?? []) {
      if (!question.startsWith(prefix)) answers?.delete(question);
    }
  }

  forget(subject: string): void {
    this.#answers.delete(subject);
  }

  /** How long until the first answer of a subject is no longer good; undefined when there is none. */
  dueIn(subject: string): Duration | undefined {
    const times = [...(this.#answers.get(subject)?.values() ?? [])].map(({ until }) => until);
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - this.#clock.now());
  }

  #in(duration: Duration): Instant {
    return this.#clock.now() + duration;
  }
}
