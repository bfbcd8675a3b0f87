import type { Found, Outcome, Place } from '../place.ts';

/**
 * One place that several sets of credentials lead to. What one of them may list is seen, and what one may remove can go:
 * a role that was taken back since is no reason to leave a region or a zone unseen that another still sees.
 */
export class ByAny<F extends Found> implements Place<F> {
  readonly kind: Place['kind'];
  readonly name: string;
  readonly #ways: readonly Place<F>[];

  /** @param ways  to the same place, the best first; one at least */
  constructor(ways: readonly Place<F>[]) {
    const [first] = ways;
    if (!first) throw new Error('no way leads to the place');
    this.kind = first.kind;
    this.name = first.name;
    this.#ways = ways;
  }

  async list(signal: AbortSignal): Promise<readonly F[]> {
    return this.#first(async (way) => way.list(signal), signal);
  }

  async remove(found: F, signal: AbortSignal): Promise<Outcome> {
    return this.#first(async (way) => way.remove(found, signal), signal);
  }

  /** @throws what the first way failed with, when all do */
  async #first<T>(attempt: (way: Place<F>) => Promise<T>, signal: AbortSignal): Promise<T> {
    const failures: unknown[] = [];
    for (const way of this.#ways) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- another way only where this one failed
        return await attempt(way);
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error);
      }
    }
    throw failures[0];
  }
}
