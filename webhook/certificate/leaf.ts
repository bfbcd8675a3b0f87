import { renewalOf, type PemPair } from '#pki/certificate.ts';
import type { Clock, Duration } from '#schemas/time/clock.ts';

import type { CaSecret } from './ca-secret.ts';
import type { Ring } from './ring.ts';

export interface LeafParts {
  readonly secret: CaSecret;
  readonly names: readonly string[];
  readonly validity: Duration;
  readonly clock: Clock;
}

/** What one replica serves with: signed here, by the authority that all share, and kept in memory alone. */
export class Leaf {
  readonly #parts: LeafParts;
  #issuer: string;
  #pair: PemPair;

  private constructor(parts: LeafParts, issuer: string, pair: PemPair) {
    this.#parts = parts;
    this.#issuer = issuer;
    this.#pair = pair;
  }

  /** @throws InvalidCertificate when the ring cannot sign */
  static async first(parts: LeafParts, { signing }: Ring): Promise<Leaf> {
    return new Leaf(parts, signing.certificate, await sign(parts, signing));
  }

  get pair(): PemPair {
    return this.#pair;
  }

  /** PEM of the authority that signed it. */
  get issuer(): string {
    return this.#issuer;
  }

  /** Until two thirds of its life are over. */
  get wait(): Duration {
    const { clock } = this.#parts;
    return clock.from(renewalOf(this.#pair.certificate)) - clock.now();
  }

  /**
   * Makes a new one when it is time, or when another authority signs now.
   *
   * @param trusted whether everybody has trusted what signs now for long enough: without that no new one is of use
   * @returns whether there is a new one
   */
  async follow({ signing }: Ring, trusted: boolean): Promise<boolean> {
    const due = this.wait <= 0 || this.#issuer !== signing.certificate;
    if (!due || !trusted) return false;
    this.#pair = await sign(this.#parts, signing);
    this.#issuer = signing.certificate;
    return true;
  }
}

async function sign({ secret, names, validity }: LeafParts, by: PemPair): Promise<PemPair> {
  return secret.load(by).issue({ names, validity });
}
