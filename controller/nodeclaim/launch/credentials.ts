import type { CredentialStore } from '../machine/credentials.ts';
import type { Machines } from '../machine/machines.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, type Outcome, type Step } from '../steps/step.ts';

/**
 * Token and leaf certificate exist before the instance, since user data is fixed at launch. The leaf carries names
 * only: the address is not known yet, and need not be.
 */
export class Credentials implements Step {
  readonly condition = 'CertificateReady';
  readonly #store: CredentialStore;
  readonly #machines: Machines;

  constructor(store: CredentialStore, machines: Machines) {
    this.#store = store;
    this.#machines = machines;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    const { nodeClass } = this.#machines.revision(hand);
    await this.#store.ensure(hand, nodeClass, this.#machines.fqdn(hand), signal);
    return done();
  }
}
