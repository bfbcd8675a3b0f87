import type { CredentialStore } from '../machine/credentials.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, type Outcome, type Step } from '../steps/step.ts';

/** Token and key are of no more use once the machine that knows them is gone. */
export class SecretsGone implements Step {
  readonly #store: CredentialStore;

  constructor(store: CredentialStore) {
    this.#store = store;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    await this.#store.remove(hand, signal);
    return done();
  }
}
