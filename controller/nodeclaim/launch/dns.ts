import type { NameLookup } from '#machine/dns/provider.ts';
import { seconds } from '#schemas/time/clock.ts';

import type { ClaimInHand } from '../claim-in-hand.ts';
import type { Machines } from '../machines.ts';
import { done, wait, type Outcome, type Step } from '../step.ts';

const written = 'WaitingForPropagation';

/**
 * The machine's names must resolve to its address, at the servers the operator asks, before anybody is told them:
 * a resolver that once cached their absence would hide them for the zone's negative TTL.
 */
export class Dns implements Step {
  readonly condition = 'DNSReady';
  readonly #machines: Machines;
  readonly #names: NameLookup;

  constructor(machines: Machines, names: NameLookup) {
    this.#machines = machines;
    this.#names = names;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    const records = this.#machines.records(hand);
    if (records.length === 0) return done();
    if (hand.reasonOf(this.condition) !== written) await this.#machines.writeRecords(hand, signal);
    const found = await Promise.all(
      records.map(async ({ name, address }) =>
        (await this.#names.lookup(name, signal)).includes(address),
      ),
    );
    const missing = records.filter((_, index) => !found[index]).map(({ name }) => name);
    if (missing.length === 0) return done();
    const message = `Waiting until ${missing.join(', ')} resolves`;
    return wait({ after: seconds(1), reason: written, message });
  }
}
