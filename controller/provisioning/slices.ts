/** How long a piece of work may keep the event loop to itself before others get their turn. */
const share = 5;

/**
 * Long work in short turns. A pass over 20,000 Pods takes a few hundred milliseconds in all; leases, watches and probes
 * of the same process get their turn every few of these.
 *
 * What is worked on must not change meanwhile: take it in one turn (caches hand out their objects in a list of its own,
 * and these never change), then work it out in slices.
 *
 * @example for (const pod of pods) { judge(pod); if (slices.isDue) await slices.next(); }
 */
export class Slices {
  readonly #share: number;
  #began = performance.now();

  /** @param milliseconds  of a turn; `Infinity` never gives way, for tests whose clock stands still */
  constructor(milliseconds: number = share) {
    this.#share = milliseconds;
  }

  /** Whether this turn has lasted long enough. */
  get isDue(): boolean {
    return performance.now() - this.#began >= this.#share;
  }

  /** Lets timers and input come first, then begins a new turn. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#began = performance.now();
  }

  /** Does something with each item, giving way in between. */
  async each<T>(items: Iterable<T>, act: (item: T) => void): Promise<void> {
    for (const item of items) {
      act(item);
      // oxlint-disable-next-line no-await-in-loop -- in between is the point
      if (this.isDue) await this.next();
    }
  }

  /** What each item becomes. */
  async map<T, R>(items: Iterable<T>, of: (item: T) => R): Promise<R[]> {
    const made: R[] = [];
    await this.each(items, (item) => made.push(of(item)));
    return made;
  }
}
