import { familyOf } from '#schemas/instances/cloud.ts';
import { type Clock, type Duration, type Instant, minutes } from '#schemas/time/clock.ts';

import type { Shortage } from './errors.ts';

/** Where a launch met no room. */
export interface Place {
  readonly project: string;
  readonly region: string;
  readonly instanceType: string;
  readonly zone: string;
  /** Path of the subnetwork. */
  readonly subnet: string;
}

interface Entry {
  readonly until: Instant;
  /** How long it was believed this time, from which follows how long the next time. */
  readonly believed: Duration;
  readonly why: string;
}

/** The first belief of each kind. Compute Engine has no question for capacity: only trying tells, and costs a call. */
const first: Readonly<Record<Shortage, Duration>> = {
  capacity: minutes(3),
  unsupported: minutes(30),
  subnet: minutes(3),
  quota: minutes(3),
};
const longest = minutes(30);

/**
 * What Compute Engine has lately said it has no room for. Kept in memory only: after a restart it is learned again at
 * the price of one refused call each.
 *
 * A stockout of a size in a zone that is met again once its time is over, and before that is over twice, is believed
 * for twice as long, up to half an hour: they last for hours here, and each try costs a create and its operation.
 * Launches that were under way when the first was refused say no more than that one did, so they move nothing. Quotas
 * and addresses come back as soon as something ends, and are believed for as long each time. An entry is not made to
 * last longer by failures elsewhere.
 */
export class Shortages {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param metric  of a quota */
  mark(shortage: Shortage, place: Place, why: string, metric?: string): void {
    this.#forget();
    const key = scopeOf(shortage, place, metric);
    const now = this.#clock.now();
    const known = this.#entries.get(key);
    if (known && known.until > now) return;
    const isAgain = known !== undefined && shortage === 'capacity';
    const believed = isAgain ? Math.min(longest, known.believed * 2) : first[shortage];
    this.#entries.set(key, { until: now + believed, believed, why });
  }

  /** Whether a launch of this size there is worth a call. Subnetworks are judged by {@link hasAddresses}. */
  isAvailable(place: Omit<Place, 'subnet'>): boolean {
    const anywhere = { ...place, subnet: '' };
    const family = familyOf('gcp', place.instanceType);
    return [
      scopeOf('capacity', anywhere),
      scopeOf('unsupported', anywhere),
      quotaScope(place, family),
      quotaScope(place, anyFamily),
    ].every((key) => !this.#holds(key));
  }

  hasAddresses(place: Pick<Place, 'project' | 'subnet'>): boolean {
    return !this.#holds(`${place.project} ${place.subnet}`);
  }

  #holds(key: string): boolean {
    return (this.#entries.get(key)?.until ?? 0) > this.#clock.now();
  }

  /** What has been over for as long as it was believed says nothing any more. */
  #forget(): void {
    const now = this.#clock.now();
    for (const [key, { until, believed }] of this.#entries) {
      if (until + believed <= now) this.#entries.delete(key);
    }
  }
}

const anyFamily = '*';

function scopeOf(shortage: Shortage, place: Place, metric?: string): string {
  const { project, instanceType, zone, subnet } = place;
  if (shortage === 'subnet') return `${project} ${subnet}`;
  if (shortage === 'quota') return quotaScope(place, familyOfQuota(metric, instanceType));
  return `${project} ${instanceType} ${shortage} in ${zone}`;
}

function quotaScope(
  { project, region }: Pick<Place, 'project' | 'region'>,
  family: string,
): string {
  return `${project} ${family} quota of ${region}`;
}

/**
 * Whose quota it is: `N2_CPUS` is of one family; `CPUS` is that of the families without one of their own, so it is
 * laid to the family that was tried; all else (addresses, disks, instances) is shared by every size of the region.
 *
 * Source: Compute Engine docs, "Allocation quotas".
 */
function familyOfQuota(metric: string | undefined, instanceType: string): string {
  const family = familyOf('gcp', instanceType);
  if (metric === undefined || metric === 'CPUS') return family;
  const own = /^([A-Z]\d+[A-Z]?)_CPUS$/.exec(metric)?.[1];
  return own === undefined ? anyFamily : own.toLowerCase();
}
