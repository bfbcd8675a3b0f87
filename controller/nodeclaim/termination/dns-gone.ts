import { NodeClassError } from '#machine/errors.ts';
import { faults } from '#machine/faults.ts';

import type { ClaimInHand } from '../claim-in-hand.ts';
import type { Machines } from '../machines.ts';
import { done, type Outcome, type Step } from '../step.ts';

const ready = 'DNSReady';
const removed = 'Removed';

/** The records go before the instance: its address may be given to another machine the moment it ends. */
export class DnsGone implements Step {
  readonly #machines: Machines;

  constructor(machines: Machines) {
    this.#machines = machines;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    if (!hand.revision || !hand.mayHaveMachine) return done(); // never had an address to write
    if (hand.reasonOf(ready) === removed) return done();
    await this.#machines.removeRecords(hand, signal).catch(zoneIsGone);
    hand.set({ type: ready, status: 'False', reason: removed });
    return done();
  }
}

/** With the whole zone its records are gone too. */
function zoneIsGone(error: unknown): void {
  const isGone = error instanceof NodeClassError && error.reason === faults.zoneNotFound.reason;
  if (!isGone) throw error;
}
