/**
 * The authorities behind the webhook's certificates, and the order in which one follows another: everybody trusts the
 * next one before anything is signed with it, and the one before for as long as anything that it signed may be served.
 */
import { certificatesIn, renewalOf, type PemPair } from '#pki/certificate.ts';
import { hours, minutes, type Clock, type Duration, type Instant } from '#schemas/time/clock.ts';

export interface Ring {
  /** Signs now. */
  readonly signing: PemPair;
  /** Since when, RFC 3339; absent when nobody wrote it down, as in a Secret that a person made. */
  readonly since?: string | undefined;
  /** Signs once everybody has trusted it for a while. */
  readonly next?: PemPair | undefined;
  /** Certificates (PEM) that are trusted still and sign no more. */
  readonly retired: readonly string[];
}

export interface Lifetimes {
  readonly authority: Duration;
  readonly leaf: Duration;
  /** From the bundle's publication to the first leaf that needs it: API servers read configurations with a delay. */
  readonly settle: Duration;
}

export const usualLifetimes: Lifetimes = {
  authority: hours(24 * 365),
  leaf: hours(24 * 7),
  settle: minutes(2),
};

/** All that is to be trusted, as one PEM text: the same ring gives the same text in every replica. */
export function bundleOf({ signing, next, retired }: Ring): string {
  const all = [signing.certificate, next?.certificate ?? '', ...retired].flatMap(certificatesIn);
  return [...new Set(all)].join('');
}

/** What is to be done with a ring, if anything, and else when to look again. */
export type Turn = { readonly step: 'prepare' | 'promote' | 'drop' } | { readonly wait: Duration };

export interface Sight {
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
  /** Since when the next authority has stood in every configuration, as this process saw it; undefined: not yet. */
  readonly nextTrusted: Instant | undefined;
}

/**
 * - `prepare`: two thirds of the authority's life are over; make the next one.
 * - `promote`: the next one has been trusted long enough; sign with it.
 * - `drop`: nothing that a retired one signed can be served any more.
 *
 * @throws InvalidCertificate when the signing certificate cannot be read
 */
export function turnOf(ring: Ring, { clock, lifetimes, nextTrusted }: Sight): Turn {
  if (ring.retired.length > 0 && dropTime(ring, clock, lifetimes) <= clock.now()) {
    return { step: 'drop' };
  }
  if (ring.next) {
    return nextTrusted === undefined
      ? { wait: lifetimes.settle }
      : due('promote', nextTrusted + lifetimes.settle - clock.now());
  }
  return due('prepare', clock.from(renewalOf(ring.signing.certificate)) - clock.now());
}

/**
 * A replica that lost sight of the Secret may sign with the retired one for as long as its last leaf lives; that leaf
 * then lives as long again.
 */
function dropTime({ since, signing }: Ring, clock: Clock, { leaf, settle }: Lifetimes): Instant {
  if (since === undefined) return clock.from(renewalOf(signing.certificate));
  return clock.from(since) + 2 * leaf + settle;
}

function due(step: 'prepare' | 'promote', wait: Duration): Turn {
  return wait <= 0 ? { step } : { wait };
}

/** @param since RFC 3339: now */
export function promoted({ signing, next, retired }: Ring, since: string): Ring {
  if (!next) return { signing, retired };
  return { signing: next, since, retired: [...retired, ...certificatesIn(signing.certificate)] };
}
