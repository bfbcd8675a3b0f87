/**
 * The Lease of a leader election as values: who holds it, since when as we saw it, and what to write next.
 *
 * Whether a holder is gone is judged by how long *we* have seen its record unchanged, never by the times in it: they are
 * from another machine's clock (kubernetes/client-go #448).
 */
import type { Lease } from '#schemas/kubernetes/core.ts';
import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

/** A record and when we first saw it say this, on our own clock. */
export interface Observation {
  readonly record: string;
  readonly since: Instant;
}

/** What we know after having read `lease` at `now`: an unchanged record keeps the time when it was first seen. */
export function observe(
  known: Observation | undefined,
  { spec }: Lease,
  now: Instant,
): Observation {
  const record = JSON.stringify([spec?.holderIdentity, spec?.renewTime, spec?.leaseTransitions]);
  return known?.record === record ? known : { record, since: now };
}

/** Empty when nobody holds it. */
export function holderOf({ spec }: Lease): string {
  return spec?.holderIdentity ?? '';
}

/** Whether the holder has let pass the time that it promised to renew in. */
export function hasExpired(
  { spec }: Lease,
  { since }: Observation,
  now: Instant,
  usualDuration: Duration,
): boolean {
  const promised = (spec?.leaseDurationSeconds ?? 0) * 1000;
  return now - since >= Math.max(promised, usualDuration);
}

/** The lease with `identity` as its holder; renews when it is that already. */
export function heldBy<T extends Lease>(
  lease: T,
  identity: string,
  leaseDuration: Duration,
  clock: Clock,
): T {
  const now = microTime(clock);
  const { spec } = lease;
  const renews = holderOf(lease) === identity;
  return {
    ...lease,
    spec: {
      ...spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDuration / 1000),
      acquireTime: renews ? (spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (spec?.leaseTransitions ?? -1) + (renews ? 0 : 1),
    },
  };
}

/** The lease without a holder, as client-go leaves it on release: whoever waits need not wait longer. */
export function releasedBy<T extends Lease>(lease: T, clock: Clock): T {
  const { holderIdentity: _, ...spec } = lease.spec ?? {};
  const now = microTime(clock);
  return { ...lease, spec: { ...spec, leaseDurationSeconds: 1, acquireTime: now, renewTime: now } };
}

/**
 * `metav1.MicroTime` has exactly six digits: the API server refuses a Lease with three. Milliseconds come from the
 * clock's own scale, so that two renewals within a second differ.
 */
export function microTime(clock: Clock): string {
  const fraction = Math.floor(clock.now() % 1000) * 1000;
  return `${clock.stamp().slice(0, 19)}.${String(fraction).padStart(6, '0')}Z`;
}
