import type { NodePool } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import type { Offer } from '../catalog.ts';
import type { Promised, Reservations } from '../reservations/reservations.ts';
import { leftOf, type Room } from '../reservations/room.ts';
import type { ClaimsInSight } from './claims-in-sight.ts';
import type { Share, Supply } from './pools-in-sight.ts';

/**
 * What each pool may still have, in one pass. Pools that share a ceiling each see all that it leaves: what they plan
 * beyond it together finds no room when it is reserved, and is deleted before anything is launched.
 */
export class RoomInSight {
  readonly #claims: ClaimsInSight;
  readonly #reservations: Reservations;
  readonly #rooms = new Map<string, readonly Room[]>();
  #promised: readonly Promised[] | undefined;

  constructor(claims: ClaimsInSight, reservations: Reservations) {
    this.#claims = claims;
    this.#reservations = reservations;
  }

  share(pool: Live<NodePool>, offer: Offer, offers: Supply['offers']): Share {
    const { name } = pool.metadata;
    const { ceilings } = this.#reservations;
    this.#promised ??= this.#claims.promised(this.#reservations, offers);
    const room = this.#reservations.room(pool, this.#promised);
    this.#rooms.set(name, room);
    const of = ceilings.membership(name, offer.nodeClass.nodeClass, pool);
    const { instanceTypes } = ceilings.under(offer, of);
    return { instanceTypes, remaining: leftOf(room), limits: room.map(({ bound }) => bound) };
  }

  /** As it was shared out. */
  of(pool: string): readonly Room[] {
    return this.#rooms.get(pool) ?? [];
  }
}
