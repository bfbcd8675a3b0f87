import { type Clock, type Duration, type Instant, minutes } from '#schemas/time/clock.ts';

import type { Shortage } from '../../aws/errors.ts';

/** Where a launch met no room. */
export interface Place {
  /** Number of the account, where it is not the operator's own. */
  readonly account?: string | undefined;
  readonly region: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly subnet: string;
}

/** One thing that is believed to have no room until `until`. */
export interface Unavailable {
  readonly kind: Shortage;
  /** `m8i.large in us-east-1a`, a subnet id, or `standard vCPU quota of us-east-1`. */
  readonly what: string;
  /** The cloud's words. */
  readonly why: string;
  readonly until: Instant;
}

/** How long each shortage is believed. A type that is not sold in a zone will not be so in three minutes either. */
const believed: Readonly<Record<Shortage, Duration>> = {
  capacity: minutes(3),
  unsupported: minutes(30),
  subnet: minutes(3),
  quota: minutes(3),
};

/**
 * What the cloud has lately said it has no room for. Kept in memory only: after a restart it is learned again at the
 * price of one refused call each.
 *
 * An entry is not made to last longer by failures elsewhere: only a new refusal of the very same thing moves its end,
 * and never nearer: a size that is not sold in a zone stays so when a launch that was under way meets no room there.
 */
export class UnavailableOfferings {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Unavailable>();
  #sequence = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rises whenever the answer of {@link isAvailable} may have changed, so that results can be kept until it does. */
  get sequence(): number {
    this.#expire();
    return this.#sequence;
  }

  mark(shortage: Shortage, place: Place, why: string): void {
    const what = scopeOf(shortage, place);
    const until = this.#clock.now() + believed[shortage];
    if ((this.#entries.get(what)?.until ?? 0) > until) return;
    this.#entries.set(what, { kind: shortage, what, why, until });
    this.#sequence += 1;
  }

  /** Whether a launch of this size there is worth a call. Subnets are judged by {@link hasAddresses}. */
  isAvailable(place: Omit<Place, 'subnet'>): boolean {
    const anywhere = { ...place, subnet: '' };
    return (['capacity', 'quota'] as const).every((kind) => !this.#holds(scopeOf(kind, anywhere)));
  }

  hasAddresses(subnet: string): boolean {
    return !this.#holds(subnet);
  }

  /** Everything that is unavailable now, for metrics and explanations. */
  list(): readonly Unavailable[] {
    this.#expire();
    return [...this.#entries.values()];
  }

  #holds(what: string): boolean {
    this.#expire();
    return this.#entries.has(what);
  }

  #expire(): void {
    const now = this.#clock.now();
    for (const [key, { until }] of this.#entries) {
      if (until > now) continue;
      this.#entries.delete(key);
      this.#sequence += 1;
    }
  }
}

/** By account: quotas are each one's own, and one name of a zone may be another zone in another account. */
function scopeOf(shortage: Shortage, place: Place): string {
  const { account, instanceType, zone, subnet, region } = place;
  if (shortage === 'subnet') return subnet;
  const whose = account === undefined ? '' : ` of account ${account}`;
  if (shortage === 'quota') return `${quotaFamily(instanceType)} vCPU quota of ${region}${whose}`;
  return `${instanceType} in ${zone}${whose}`;
}

/**
 * The group of sizes that share an on-demand vCPU quota: `standard` for the A, C, D, H, I, M, R, T and Z kinds,
 * else the kind's letters.
 *
 * Source: EC2 user guide, on-demand instance quotas. `inf`, `hpc` and `dl` begin like standard kinds and are not.
 */
export function quotaFamily(instanceType: string): string {
  const kind = /^[a-z]+/.exec(instanceType)?.[0] ?? instanceType;
  if (['inf', 'hpc', 'dl', 'mac', 'trn'].includes(kind)) return kind;
  return 'acdhimrtz'.includes(kind.charAt(0)) ? 'standard' : kind;
}
