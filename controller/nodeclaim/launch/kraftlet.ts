import type { Pod } from '#schemas/kubernetes/core.ts';
import { seconds } from '#schemas/time/clock.ts';

import { by, type Caches } from '../../caches.ts';
import { podTrouble } from '../kraftlet/pod-trouble.ts';
import type { KraftletRelease } from '../kraftlet/release.ts';
import { kraftletRuns } from '../kraftlet/running.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';

/** Of hundreds of machines that came at once. */
const inLine = wait({
  after: seconds(2),
  reason: 'KraftletInLine',
  message: 'The Kraftlet releases of other machines are rendered first',
});

/**
 * One Kraftlet release per machine. Kraftlet then registers the Node, which is born with the unregistered taint as its
 * only one: the chart can give one taint, and a Node must not take Pods before registration opens it.
 */
export class Kraftlet implements Step {
  readonly condition = 'KraftletInstalled';
  readonly #caches: Caches;
  readonly #release: KraftletRelease;

  constructor(caches: Caches, release: KraftletRelease) {
    this.#caches = caches;
    this.#release = release;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    const { claimUid, name } = hand.identity;
    const [set] = this.#caches.statefulSets.by(by.claimUid, claimUid);
    const notYet = set ? undefined : await this.#install(hand, signal);
    if (notYet) return notYet;
    if (kraftletRuns(this.#caches, claimUid)) return done();
    const trouble = this.#caches.pods.by(by.claimUid, claimUid).map((pod: Pod) => podTrouble(pod));
    const found = trouble.find((one) => one !== undefined);
    if (found) return wait({ ...found, status: 'False', failed: true });
    const message = `Waiting until the Pod of Kraftlet release ${name} is ready`;
    return wait({ reason: 'KraftletStarting', message });
  }

  async #install(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome | undefined> {
    if (this.#release.isBusy) return inLine;
    return this.#release.apply(await this.#release.render(hand, signal), signal);
  }
}
