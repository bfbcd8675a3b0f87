import type { Secret } from '#schemas/kubernetes/core.ts';
import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

import type { CaSecret, Stored } from './ca-secret.ts';
import { bundleOf, promoted, turnOf, type Lifetimes, type Ring } from './ring.ts';

export interface RingKeeperParts {
  readonly secret: CaSecret;
  /** The Secret as the watch has it; undefined when it is not there. */
  readonly seen: () => Secret | undefined;
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
}

/**
 * The ring of authorities between the Secret and this process, which can do without the Secret: one that was deleted is
 * written again from memory, and one that was replaced goes on trusting what this process still serves with.
 */
export class RingKeeper {
  readonly #parts: RingKeeperParts;
  #known: Stored;
  /** Version of the watch's copy when this process wrote last: older than what it wrote, so not to be read again. */
  #passed: string | undefined;

  constructor(parts: RingKeeperParts, known: Stored) {
    this.#parts = parts;
    this.#known = known;
  }

  /**
   * What holds now, with `issuer` (PEM), which signed what this process serves with, among what is trusted.
   *
   * @throws InvalidCertificate when the Secret holds what cannot sign; @throws ApiError
   */
  async current(issuer: string): Promise<Ring> {
    const { secret, seen, clock } = this.#parts;
    const stored = seen();
    if (!stored) this.#known = (await secret.create(this.#known.ring)) ?? this.#known;
    else if (stored.metadata?.resourceVersion !== this.#passed) this.#known = secret.parse(stored);
    const { ring } = this.#known;
    if (bundleOf(ring).includes(issuer)) return ring;
    const merged = { ...ring, since: clock.stamp(), retired: [...ring.retired, issuer] };
    await this.#write(merged);
    return merged;
  }

  /**
   * Takes the next step of the order, if one is due.
   *
   * @param nextTrusted see {@link turnOf}
   * @returns when the one after it may be due at the earliest
   */
  async turn(nextTrusted: Instant | undefined): Promise<{ done?: string; wait: Duration }> {
    const { clock, lifetimes, secret } = this.#parts;
    const { ring } = this.#known;
    const turn = turnOf(ring, { clock, lifetimes, nextTrusted });
    if ('wait' in turn) return turn;
    const next = {
      prepare: async () => ({ ...ring, next: await secret.newAuthority() }),
      promote: async () => promoted(ring, clock.stamp()),
      drop: async () => ({ ...ring, retired: [] }),
    };
    const written = await this.#write(await next[turn.step]());
    return { ...(written && { done: turn.step }), wait: 0 };
  }

  /** @returns false when another replica was faster */
  async #write(ring: Ring): Promise<boolean> {
    const written = await this.#parts.secret.replace(ring, this.#known);
    if (!written) return false;
    this.#passed = this.#parts.seen()?.metadata?.resourceVersion;
    this.#known = written;
    return true;
  }
}
