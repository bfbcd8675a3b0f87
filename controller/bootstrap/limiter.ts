import { seconds, type Clock, type Duration, type Instant } from '#schemas/time/clock.ts';

export interface Limits {
  /** Calls in vain that an address may make at once. */
  readonly burst: number;
  /** One more after each of these. */
  readonly refill: Duration;
  /** Addresses that are remembered; the one that was longest quiet is forgotten. */
  readonly addresses: number;
}

/** Machines behind one gateway share an address, and those that are right pay nothing. */
const usual: Limits = { burst: 20, refill: seconds(1), addresses: 10_000 };

interface Bucket {
  left: number;
  at: Instant;
}

/**
 * Keeps an address from trying much: each call takes something out of its bucket, and gets it back when it was no call in
 * vain.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #limits: Limits;
  /** The one that called last stands last. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, limits: Partial<Limits> = {}) {
    this.#clock = clock;
    this.#limits = { ...usual, ...limits };
  }

  /** @returns gives back what the call cost; undefined: the address has to wait */
  enter(address: string): (() => void) | undefined {
    const bucket = this.#bucketOf(address);
    if (bucket.left < 1) return undefined;
    bucket.left -= 1;
    return () => {
      bucket.left = Math.min(this.#limits.burst, bucket.left + 1);
    };
  }

  #bucketOf(address: string): Bucket {
    const { burst, refill, addresses } = this.#limits;
    const now = this.#clock.now();
    const found = this.#buckets.get(address) ?? { left: burst, at: now };
    this.#buckets.delete(address);
    this.#buckets.set(address, found);
    found.left = Math.min(burst, found.left + (now - found.at) / refill);
    found.at = now;
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > addresses && oldest !== undefined) this.#buckets.delete(oldest);
    return found;
  }
}
