import type { Authority } from '#pki/authority.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { hours, type Duration } from '#schemas/time/clock.ts';
import { parseDuration } from '#schemas/time/duration.ts';

import { callbackUrl } from '../bootstrap-mode.ts';
import { OneByOne } from '../one-by-one.ts';
import type { CertificateRequest, CertificateSource, MachineCertificate } from './source.ts';

/** A machine that is being drained at its expiry still needs its certificate. */
const margin: Duration = hours(24);

/** Finds the authority of a node class; throws NodeClassError when its Secret is missing or broken. */
export type AuthorityOf = (nodeClass: ResolvedNodeClass, signal: AbortSignal) => Promise<Authority>;

/** Mode PrivateCA: the operator signs each machine's leaf itself. */
export class PrivateCa implements CertificateSource {
  readonly #authorityOf: AuthorityOf;
  readonly #leaves = new OneByOne();
  /** By node class, while it is read. */
  readonly #asked = new Map<string, Promise<Authority>>();

  constructor(authorityOf: AuthorityOf) {
    this.#authorityOf = authorityOf;
  }

  async certificateFor(
    request: CertificateRequest,
    signal: AbortSignal,
  ): Promise<MachineCertificate> {
    const { nodeClass, names } = request;
    const authority = await this.#authority(nodeClass, signal);
    const ca = authority.pem.certificate;
    // it will ask for one, for a key that it keeps to itself
    if (callbackUrl(nodeClass.spec) !== undefined) return { certificate: '', privateKey: '', ca };
    const validity = validityOf(request);
    const leaf = await this.#leaves.do(async () => authority.issue({ names, validity }));
    return { ...leaf, ca };
  }

  /** Claims of a burst that ask while it is read share the answer, and the milliseconds that it takes to check it. */
  async #authority(nodeClass: ResolvedNodeClass, signal: AbortSignal): Promise<Authority> {
    const key = JSON.stringify([nodeClass.nodeClass, nodeClass.spec.certificate]);
    const asked = this.#asked.get(key) ?? this.#authorityOf(nodeClass, signal);
    this.#asked.set(key, asked);
    return asked.finally(() => this.#asked.delete(key));
  }
}

/**
 * As long as the machine may live and a day to leave, or what the class says; for ever means: as long as the
 * authority itself, since an outage at the end of a leaf would be worse than a key that lives as long as its machine.
 */
export function validityOf({ claim, nodeClass: { spec } }: CertificateRequest): Duration {
  const own = spec.certificate.api.duration;
  return own === undefined
    ? parseDuration(claim.spec.expireAfter ?? 'Never') + margin
    : parseDuration(own);
}
