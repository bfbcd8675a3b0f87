import type { CloudProvider } from '#machine/cloud/provider.ts';
import type { Instance } from '#machine/machine.ts';
import { seconds, type Clock, type Instant } from '#schemas/time/clock.ts';

import type { ClaimInHand } from '../claim-in-hand.ts';
import type { Machines } from '../machines.ts';
import { done, wait, type Outcome, type Step } from '../step.ts';

/**
 * How long after a launch call its instance may be missing from the cloud's lists.
 * Source: Amazon EC2 User Guide, eventual consistency; karpenter's own grace is of the same size.
 */
const invisible = seconds(60);

/**
 * Ends the instance and waits for the proof: the cloud lists it as terminated, or lists nothing long enough after
 * the last call that could have made one. Every instance with this claim's tag ends, so that one whose launch was
 * never answered goes too.
 */
export class InstanceGone implements Step {
  readonly condition = 'InstanceTerminated';
  readonly #machines: Machines;
  readonly #clock: Clock;

  constructor(machines: Machines, clock: Clock) {
    this.#machines = machines;
    this.#clock = clock;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    if (!hand.revision) return done(); // the cloud was never called
    const { nodeClass } = hand.revision;
    const cloud = await this.#machines.cloud(hand);
    const made = await cloud.find(nodeClass, hand.identity, signal);
    const alive = made.filter(({ state }) => state !== 'terminated');
    if (alive.length > 0) return this.#terminate(hand, cloud, alive, signal);
    if (made.length > 0 || this.#now() - this.#lastCall(hand) > invisible) return done();
    const message = 'Waiting until the cloud is sure to show what was launched';
    return wait({ after: seconds(5), reason: 'AwaitingCloud', message });
  }

  async #terminate(
    hand: ClaimInHand,
    cloud: CloudProvider,
    alive: readonly Instance[],
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { nodeClass } = this.#machines.revision(hand);
    const toEnd = alive.filter(({ state }) => state !== 'terminating');
    await Promise.all(toEnd.map(({ id }) => cloud.terminate(nodeClass, id, signal)));
    const message = `Waiting for the end of ${alive.map(({ id }) => id).join(', ')}`;
    return wait({ after: seconds(1), reason: 'InstanceTerminating', message });
  }

  /** A claim without an intent had each of its calls refused for good, so nothing can appear any more. */
  #lastCall({ intent }: ClaimInHand): Instant {
    return intent === undefined ? Number.NEGATIVE_INFINITY : this.#clock.from(intent.since);
  }

  #now(): Instant {
    return this.#clock.now();
  }
}
