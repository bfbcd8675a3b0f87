import { type BackOff, defaultBackOff, waitAfter } from '#kube/runtime/back-off.ts';
import type { Clock, Instant } from '#schemas/time/clock.ts';

interface Rest {
  readonly failures: number;
  readonly until: Instant;
  readonly why: string;
}

/**
 * Pools whose NodeClaims the API server refuses. Each rests by itself, longer with each refusal, so that one pool
 * that cannot be served (a name too long for a label, a policy, a quota of objects) does not keep the others waiting.
 */
export class RestingPools {
  readonly #clock: Clock;
  readonly #backOff: BackOff;
  readonly #random: () => number;
  readonly #rests = new Map<string, Rest>();

  constructor(clock: Clock, backOff: BackOff = defaultBackOff, random: () => number = Math.random) {
    this.#clock = clock;
    this.#backOff = backOff;
    this.#random = random;
  }

  /** A claim of the pool was refused. */
  refused(pool: string, why: string): void {
    const failures = (this.#rests.get(pool)?.failures ?? 0) + 1;
    const until = this.#clock.now() + waitAfter(failures, this.#backOff, this.#random());
    this.#rests.set(pool, { failures, until, why });
  }

  /** A claim of the pool was made, or the pool is gone. */
  forget(pool: string): void {
    this.#rests.delete(pool);
  }

  /** Why nothing is tried for the pool now; undefined when something may be. */
  whyResting(pool: string): string | undefined {
    const rest = this.#rests.get(pool);
    return rest && rest.until > this.#clock.now() ? rest.why : undefined;
  }
}
