import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import { labels } from '#schemas/names.ts';
import {
  cappedCapacity,
  isEnforced,
  limitsIn,
  limitsOf,
  machineCapOf,
  type Limit,
  type MachineCap,
} from '#schemas/quotapolicy/ceilings.ts';
import { selects, type Membership } from '#schemas/quotapolicy/selector.ts';
import type { UnikraftQuotaPolicy } from '#schemas/quotapolicy/types.ts';

import type { Caches } from '../caches.ts';
import type { Offer } from '../catalog.ts';
import type { Bound, Entry } from './ledger.ts';

/** What quota policies come to, as the caches show policies and pools now. It remembers nothing that decides. */
export class Ceilings {
  readonly #caches: Pick<Caches, 'quotaPolicies' | 'nodePools'>;
  /** Offers under a cap, so that the same answer is the very same array; by the sizes and the cap's text. */
  readonly #offers = new WeakMap<Offer['instanceTypes'], Map<string, Offer['instanceTypes']>>();

  /** The very same as long as the policy is: whoever sums up what a bound covers does it once. */
  readonly #totals = new WeakMap<UnikraftQuotaPolicy, readonly Bound[]>();

  constructor(caches: Pick<Caches, 'quotaPolicies' | 'nodePools'>) {
    this.#caches = caches;
  }

  get policies(): readonly UnikraftQuotaPolicy[] {
    return this.#caches.quotaPolicies.list();
  }

  /** A pool's own limits, and what policies allow each pool. @throws InvalidQuantity: a limit of the pool is none */
  limitsOf(pool: NodePool): Limit[] {
    const { nodeClassRef } = pool.spec.template.spec;
    const of = this.membership(pool.metadata?.name, nodeClassRef.name, pool);
    return limitsOf(pool.spec.limits, this.policies, of);
  }

  /** What policies allow all machines together, with which machines count. */
  totalsOf(of: Membership): Bound[] {
    return this.policies
      .filter((policy) => isEnforced(policy) && selects(policy, of))
      .flatMap((policy) => this.totalsIn(policy));
  }

  totalsIn(policy: UnikraftQuotaPolicy): readonly Bound[] {
    const known = this.#totals.get(policy);
    if (known) return known;
    const covers = ({ pool, nodeClass }: Entry): boolean =>
      selects(policy, this.membership(pool, nodeClass ?? ''));
    const bounds = limitsIn(policy.spec.ceilings.total, policy).map((limit) => ({
      ...limit,
      covers,
    }));
    this.#totals.set(policy, bounds);
    return bounds;
  }

  /** The most that a new machine of a pool and node class may offer. */
  capOf(of: Membership): MachineCap {
    return machineCapOf(this.policies, of);
  }

  /** The sizes as machines there may have them; a size of which nothing is left is not offered. */
  under(offer: Offer, of: Membership): Offer {
    const cap = this.capOf(of);
    if (Object.keys(cap).length === 0) return offer;
    const known = this.#offers.get(offer.instanceTypes) ?? new Map();
    this.#offers.set(offer.instanceTypes, known);
    const text = JSON.stringify(cap);
    const instanceTypes =
      known.get(text) ??
      offer.instanceTypes.flatMap((type) => {
        const capacity = cappedCapacity(type.capacity, cap);
        return capacity ? [{ ...type, capacity }] : [];
      });
    known.set(text, instanceTypes);
    return { ...offer, instanceTypes };
  }

  membershipOf({ metadata, spec }: NodeClaim): Membership {
    return this.membership(metadata?.labels?.[labels.nodePool], spec.nodeClassRef.name);
  }

  /** @param pool  the pool as it is at hand, where that may be newer than the cache */
  membership(
    name: string | undefined,
    nodeClass: string,
    pool: NodePool | undefined = name === undefined ? undefined : this.#caches.nodePools.get(name),
  ): Membership {
    if (name === undefined) return { nodePool: undefined, nodeClass };
    return { nodePool: { name, labels: pool && (pool.metadata?.labels ?? {}) }, nodeClass };
  }
}
