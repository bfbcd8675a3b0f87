import type { NodeInSight } from '#scheduling/solver.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { seconds } from '#schemas/time/clock.ts';

import { by } from '../caches.ts';
import type { Offer } from '../catalog.ts';
import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import type { Promised, Reservations } from '../reservations/reservations.ts';
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

  /** The claim that a node in sight is of: ours, on its way or there. */
  under({ kind, name }: Pick<NodeInSight, 'kind' | 'name'>): string | undefined {
    if (kind === 'claim') return name;
    const { nodes, nodeClaims } = this.#context.caches;
    const [claim] = nodeClaims.by(by.providerID, nodes.get(name)?.spec?.providerID ?? '');
    return claim?.metadata.name;
  }

  /** Claims that will take room soon and have not, with the least that each can take. */
  promised(reservations: Reservations, offers: ReadonlyMap<string, Offer>): Promised[] {
    return this.list()
      .filter((claim) => !claim.metadata.deletionTimestamp && !reservations.holds(claim))
      .map((claim) => {
        const offer = offers.get(claim.spec.nodeClassRef.name);
        const cap = reservations.ceilings.capOf(reservations.ceilings.membershipOf(claim));
        return { claim, resources: smallestOf(claim, offer, cap) };
      });
  }
}
