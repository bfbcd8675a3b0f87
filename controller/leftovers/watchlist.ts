import { type Instant, minutes } from '#schemas/time/clock.ts';

/**
 * Nothing goes before it was seen without a claim for so long, in this process: right after a start nothing goes, nor at
 * first sight, however old it looks, since a clock may have jumped.
 */
const grace = minutes(5);

/**
 * Since when things of one place are seen without a claim. Kept in memory on purpose: a restart begins anew, which costs
 * minutes, where a time that was written down could be wrong.
 */
export class Watchlist {
  #since = new Map<string, Instant>();

  get size(): number {
    return this.#since.size;
  }

  /**
   * Takes note of one look at the whole place.
   *
   * @param unclaimed  ids of all that has no claim now; what is not among them is forgotten
   * @returns those whose time has come
   */
  looked(unclaimed: readonly string[], now: Instant): ReadonlySet<string> {
    this.#since = new Map(unclaimed.map((id) => [id, this.#since.get(id) ?? now]));
    const due = [...this.#since].filter(([, since]) => now - since >= grace);
    return new Set(due.map(([id]) => id));
  }
}
