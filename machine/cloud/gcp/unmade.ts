import { type Clock, type Instant, minutes } from '#schemas/time/clock.ts';

import type { Where } from './api.ts';

/** Who was refused tries again after seconds; a claim that ended meanwhile is forgotten with this. */
const kept = minutes(1);

/**
 * Instances that were not to be found, and for which Google has taken no call since: each was refused for its rate, or
 * not sent. They need not be looked for by name before the next try. With hundreds of launches at once those looks would
 * take the turns that launches wait for; the list of all zones is read in any case, and a name can be taken only once.
 *
 * A call that nobody heard of before that may still make one: in the zone of the next try, since the intent stays what it
 * is, where the same request id and name make it the same one.
 *
 * Kept in memory: after a restart each is looked for.
 */
export class Unmade {
  readonly #clock: Clock;
  /** By name, the oldest first: when its call was refused last. */
  readonly #refusedAt = new Map<string, Instant>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(where: Omit<Where, 'zone'>): boolean {
    const at = this.#refusedAt.get(keyOf(where));
    return at !== undefined && this.#clock.now() - at < kept;
  }

  /** Its call was refused for its rate, or not sent. */
  refused(where: Where): void {
    this.#refusedAt.delete(keyOf(where));
    this.#refusedAt.set(keyOf(where), this.#clock.now());
    for (const [key, at] of this.#refusedAt) {
      if (this.#clock.now() - at < kept) return;
      this.#refusedAt.delete(key);
    }
  }

  /** Its call was taken, or nobody knows. */
  forget(where: Where): void {
    this.#refusedAt.delete(keyOf(where));
  }
}

function keyOf({ project, instance }: Omit<Where, 'zone'>): string {
  return `${project}/${instance}`;
}
