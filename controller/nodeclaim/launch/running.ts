import type { Instance } from '#machine/machine.ts';
import { seconds, type Clock } from '#schemas/time/clock.ts';

import { invisible } from '../machine/invisible.ts';
import type { Machines } from '../machine/machines.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, end, wait, type End, type Outcome, type Step } from '../steps/step.ts';

/**
 * The instance must run and have an address. It is looked at on every pass until the Node is there, because the
 * later steps talk to its address and because an instance can end at any time.
 */
export class Running implements Step {
  readonly condition = 'InstanceRunning';
  readonly always = true;
  readonly #machines: Machines;
  readonly #clock: Clock;

  constructor(machines: Machines, clock: Clock) {
    this.#machines = machines;
    this.#clock = clock;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    const instance =
      (await this.#machines.instance(hand, signal)) ?? (await this.#late(hand, signal));
    if (!instance) return this.#unseen(hand);
    if (instance.state === 'pending' || (instance.state === 'running' && !hasAddress(instance))) {
      const message = `Instance ${instance.id} is starting`;
      return wait({ after: seconds(1), reason: 'InstancePending', message });
    }
    if (instance.state !== 'running') return end(ended(instance));
    if (instance.runsGuests === false) return end(unfit(instance));
    hand.instance = instance;
    return done();
  }

  /** One that lists ought to show by now may have lost its tags. */
  async #late(hand: ClaimInHand, signal: AbortSignal): Promise<Instance | undefined> {
    return this.#isNew(hand) ? undefined : this.#machines.untagged(hand, signal);
  }

  #isNew(hand: ClaimInHand): boolean {
    const now = this.#clock.now();
    return now - (hand.since('Launched') ?? now) < invisible;
  }

  #unseen(hand: ClaimInHand): Outcome {
    if (this.#isNew(hand)) {
      const message = 'The cloud does not show the new instance yet';
      return wait({ after: seconds(1), reason: 'InstancePending', message });
    }
    const message = `The cloud no longer knows instance ${hand.status.providerID ?? ''} (KPU330)`;
    return end({ metric: 'instance_ended', reason: 'InstanceEnded', message });
  }
}

function hasAddress(instance: Instance): boolean {
  return instance.privateAddress !== undefined || instance.publicAddress !== undefined;
}

/** It would boot, never get healthy, and nobody would know why. */
function unfit({ id, instanceType, zone }: Instance): End {
  return {
    metric: 'instance_unfit',
    reason: 'NestedVirtualizationUnavailable',
    message:
      `Instance ${id} (${instanceType} in ${zone}) was started without nested virtualisation, so it cannot run guests; ` +
      'the claim ends and another machine is tried (KPU337)',
  };
}

function ended({ id, state, stateReason }: Instance): End {
  const why = stateReason === undefined ? '' : `: ${stateReason}`;
  return {
    metric: 'instance_ended',
    reason: 'InstanceEnded',
    message: `Instance ${id} is ${state}${why}; the claim ends and another machine is tried (KPU330)`,
  };
}
