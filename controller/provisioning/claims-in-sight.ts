import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';
import { subtractResources } from '#schemas/quantity/resources.ts';
import { seconds } from '#schemas/time/clock.ts';

import { by } from '../caches.ts';
import type { Offer } from '../catalog.ts';
import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import type { Reservations } from '../reservations/reservations.ts';
import { smallestOf } from './in-flight.ts';

/** Longer than any cache lags behind a write; one that is missing after that was deleted before the cache saw it. */
const longestLag = seconds(60);

/**
 * The claims there are: those in the cache, and those that were just made and that the cache does not show yet.
 * Without them the next pass would launch for the same Pods again.
 */
export class ClaimsInSight {
  readonly #context: Context;
  readonly #made = new Map<string, { readonly claim: Live<NodeClaim>; readonly at: number }>();

  constructor(context: Context) {
    this.#context = context;
  }

  made(claim: Live<NodeClaim>): void {
    this.#made.set(claim.metadata.name, { claim, at: this.#context.clock.now() });
  }

  gone(claimName: string): void {
    this.#made.delete(claimName);
  }

  list(): Live<NodeClaim>[] {
    const { nodeClaims } = this.#context.caches;
    const oldest = this.#context.clock.now() - longestLag;
    for (const [name, { at }] of this.#made) {
      if (nodeClaims.get(name) || at < oldest) this.#made.delete(name);
    }
    const unseen = [...this.#made.values()].map(({ claim }) => claim);
    return [...nodeClaims.list().filter(isOurs), ...unseen];
  }

  get(name: string): Live<NodeClaim> | undefined {
    return this.#context.caches.nodeClaims.get(name) ?? this.#made.get(name)?.claim;
  }

  /** A pool's limits less what its claims hold, and less what those will hold that have not reserved it yet. */
  remaining(
    pool: Live<NodePool>,
    reservations: Reservations,
    offer: Offer | undefined,
  ): ResourceList {
    const name = pool.metadata.name;
    const left = reservations.remaining(pool);
    const promised = this.#of(name)
      .filter(
        ({ metadata }) => !metadata.deletionTimestamp && !reservations.holds(name, metadata.uid),
      )
      .map((claim) => ({ ...smallestOf(claim, offer), nodes: '1' }))
      .reduce(subtractResources, left);
    return Object.fromEntries(
      Object.keys(left).map((resource) => [resource, promised[resource] ?? '0']),
    );
  }

  #of(pool: string): Live<NodeClaim>[] {
    const cached = this.#context.caches.nodeClaims.by(by.nodePool, pool).filter(isOurs);
    const unseen = [...this.#made.values()].filter(
      ({ claim }) =>
        claim.metadata.labels?.[labels.nodePool] === pool &&
        !this.#context.caches.nodeClaims.get(claim.metadata.name),
    );
    return [...cached, ...unseen.map(({ claim }) => claim)];
  }
}
