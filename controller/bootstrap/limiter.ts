import { seconds, type Clock, type Duration, type Instant } from '#schemas/time/clock.ts';

export interface Limits {
  /** Calls in vain that a caller may make at once. */
  readonly burst: number;
  /** One more after each of these. */
  readonly refill: Duration;
  /** Callers that are remembered; the one that was longest quiet is forgotten. */
  readonly callers: number;
}

/**
 * By the address, for what nobody vouches for. Machines behind one gateway share it, and one whose token is wrong must not
 * keep the others out: a call costs no more than a signature (0.1 ms), so fifty a second take less than a hundredth of a
 * processor. The burst is for as many machines as may be connected at once, whose tokens are yet to be read.
 */
export const perAddress: Limits = { burst: 1000, refill: 20, callers: 10_000 };

/** By the claim of a token that is ours: what follows asks the API server, and now and then a cloud. */
export const perClaim: Limits = { burst: 20, refill: seconds(1), callers: 10_000 };

interface Bucket {
  left: number;
  at: Instant;
}

/**
 * Keeps a caller from trying much: each call takes something out of its bucket, and gets it back when it was no call in
 * vain.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #limits: Limits;
  /** The one that called last stands last. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** @returns gives back what the call cost; undefined: the caller has to wait */
  enter(caller: string): (() => void) | undefined {
    const bucket = this.#bucketOf(caller);
    if (bucket.left < 1) return undefined;
    bucket.left -= 1;
    return () => {
      bucket.left = Math.min(this.#limits.burst, bucket.left + 1);
    };
  }

  #bucketOf(caller: string): Bucket {
    const { burst, refill, callers } = this.#limits;
    const now = this.#clock.now();
    const found = this.#buckets.get(caller) ?? { left: burst, at: now };
    this.#buckets.delete(caller);
    this.#buckets.set(caller, found);
    found.left = Math.min(burst, found.left + (now - found.at) / refill);
    found.at = now;
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > callers && oldest !== undefined) this.#buckets.delete(oldest);
    return found;
  }
}
