import type { Nominations } from '../../provisioning/nominations.ts';
import type { Reservations } from '../../reservations/reservations.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, type Outcome, type Step } from '../steps/step.ts';

/** What the machine took of its pool's limits is free again only now, when nothing of it is left. */
export class ReservationGone implements Step {
  readonly #reservations: Reservations;
  readonly #nominations: Nominations;

  constructor(reservations: Reservations, nominations: Nominations) {
    this.#reservations = reservations;
    this.#nominations = nominations;
  }

  async run({ identity }: ClaimInHand): Promise<Outcome> {
    await this.#nominations.forget(identity.claim);
    await this.#reservations.release(identity.nodePool, identity.claimUid);
    return done();
  }
}
