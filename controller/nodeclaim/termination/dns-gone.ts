import type { ClaimInHand } from '../claim-in-hand.ts';
import type { Machines } from '../machines.ts';
import { done, type Outcome, type Step } from '../step.ts';

/** The records go before the instance: its address may be given to another machine the moment it ends. */
export class DnsGone implements Step {
  readonly #machines: Machines;

  constructor(machines: Machines) {
    this.#machines = machines;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    if (hand.revision) await this.#machines.removeRecords(hand, signal);
    return done();
  }
}
