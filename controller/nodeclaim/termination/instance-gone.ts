import type { CloudProvider } from '#machine/cloud/provider.ts';
import type { Instance } from '#machine/machine.ts';
import { tags } from '#schemas/names.ts';
import { parseProviderID } from '#schemas/provider-id.ts';
import { minutes, seconds, type Clock } from '#schemas/time/clock.ts';

import { invisible } from '../machine/invisible.ts';
import type { Machines } from '../machine/machines.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';

/** The last launch call began before the deletion was seen and may have run for a minute; then its instance shows. */
const unanswered = minutes(1) + invisible;

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
    const cloud = await this.#machines.cloud(hand);
    const seen = await this.#shared(hand, cloud, signal);
    const made = seen.some(isAlive) ? seen : await this.#own(hand, cloud, signal);
    const untagged = await this.#untagged(hand, made, signal);
    const alive = [...made.filter(isAlive), ...untagged];
    if (alive.length > 0) return this.#terminate(hand, cloud, alive, signal);
    await this.#terminateUnlisted(hand, cloud, made, signal);
    if (this.#isAll(hand, made)) return done();
    const message = 'Waiting until the cloud is sure to show what was launched';
    return wait({ after: seconds(5), reason: 'AwaitingCloud', message });
  }

  /** From the list that all claims share, since an end takes a minute and many may be waited for. */
  async #shared(
    { identity, revision }: ClaimInHand,
    cloud: CloudProvider,
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    if (!revision) return [];
    const all = await cloud.snapshot(revision.nodeClass, identity.clusterUid, signal);
    return all.filter((instance) => instance.tags[tags.claimUid] === identity.claimUid);
  }

  /** The proof: a list of this moment. */
  async #own(
    hand: ClaimInHand,
    cloud: CloudProvider,
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    const { nodeClass } = this.#machines.revision(hand);
    return cloud.find(nodeClass, hand.identity, signal);
  }

  async #terminate(
    hand: ClaimInHand,
    cloud: CloudProvider,
    alive: readonly Instance[],
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { nodeClass } = this.#machines.revision(hand);
    const toEnd = alive.filter(({ state }) => state !== 'terminating');
    const { clusterUid, claimUid } = hand.identity;
    await Promise.all(
      toEnd.map(async ({ id, zone }) =>
        cloud.terminate(nodeClass, { id, zone, clusterUid, claimUid }, signal),
      ),
    );
    const message = `Waiting for the end of ${alive.map(({ id }) => id).join(', ')}`;
    return wait({ after: seconds(1), reason: 'InstanceTerminating', message });
  }

  /** The launched one, where lists ought to show it and do not: it may have lost its tags, and is no less there. */
  async #untagged(
    hand: ClaimInHand,
    made: readonly Instance[],
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    const id = idOf(hand);
    if (id === undefined || this.#isNew(hand) || made.some((one) => one.id === id)) return [];
    const found = await this.#machines.untagged(hand, signal);
    return found ? [found] : [];
  }

  #isNew(hand: ClaimInHand): boolean {
    return this.#clock.now() - (hand.since('Launched') ?? hand.createdAt) <= invisible;
  }

  /** An instance that was answered and is not listed is new, or long gone. */
  async #terminateUnlisted(
    hand: ClaimInHand,
    cloud: CloudProvider,
    made: readonly Instance[],
    signal: AbortSignal,
  ): Promise<void> {
    const known = parseProviderID(hand.status.providerID ?? '');
    if (!known || made.some((instance) => instance.id === known.id)) return;
    const { clusterUid, claimUid } = hand.identity;
    const wanted = { id: known.id, zone: known.zone, clusterUid, claimUid };
    await cloud.terminate(this.#machines.revision(hand).nodeClass, wanted, signal);
  }

  /**
   * Whether all that can have been made is among these. Each attempt makes at most one instance, and is counted up
   * only when the one before had made its own; without an intent every call was refused for good.
   */
  #isAll(hand: ClaimInHand, made: readonly Instance[]): boolean {
    const id = idOf(hand);
    if (id !== undefined) {
      return !this.#isNew(hand) || made.some((instance) => instance.id === id);
    }
    if (!hand.mayHaveMachine) return true;
    const { deletionTimestamp } = hand.claim.metadata;
    const deleted = this.#clock.from(deletionTimestamp ?? this.#clock.stamp());
    const attempts = hand.intent?.attempt ?? Number.POSITIVE_INFINITY;
    return made.length >= attempts || this.#clock.now() - deleted > unanswered;
  }
}

function isAlive({ state }: Instance): boolean {
  return state !== 'terminated';
}

function idOf({ status }: ClaimInHand): string | undefined {
  return parseProviderID(status.providerID ?? '')?.id;
}
