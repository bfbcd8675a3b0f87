import { PlatformUnavailable } from '#machine/errors.ts';
import type { PlatformEndpoint } from '#machine/machine.ts';
import type { HealthCheck, PlatformApi } from '#machine/platform/api.ts';
import { minutes, seconds, type Clock } from '#schemas/time/clock.ts';

import type { Machines } from '../machine/machines.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';
import type { CapacityCheck } from './capacity-check.ts';

/** A machine that boots as it should is not worth a write for each thing it still lacks. */
const patience = minutes(2);

/**
 * The platform on a machine must answer healthy before Kraftlet is installed, so that no Node can join a cluster
 * before its machine can run Pods. Then its quotas are read, because they are what the Node will advertise.
 *
 * Source: Unikraft Cloud platform API, GET /v1/healthz; each of `data.checks` is unknown, healthy or degraded.
 */
export class Health implements Step {
  readonly condition = 'PlatformHealthy';
  readonly #platform: PlatformApi;
  readonly #machines: Machines;
  readonly #capacity: CapacityCheck;
  readonly #clock: Clock;

  constructor(platform: PlatformApi, machines: Machines, capacity: CapacityCheck, clock: Clock) {
    this.#platform = platform;
    this.#machines = machines;
    this.#capacity = capacity;
    this.#clock = clock;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    const endpoint = await this.#machines.endpoint(hand);
    const trouble = await this.#trouble(endpoint, signal);
    if (trouble !== undefined) return this.#notYet(hand, trouble);
    await this.#capacity.run(hand, await this.#platform.quotas(endpoint, signal));
    return done();
  }

  async #trouble(endpoint: PlatformEndpoint, signal: AbortSignal): Promise<string | undefined> {
    try {
      const sick = (await this.#platform.health(endpoint, signal)).filter(isNotHealthy);
      return sick.length === 0 ? undefined : textOf(sick);
    } catch (error) {
      if (error instanceof PlatformUnavailable) return error.message;
      throw error;
    }
  }

  #notYet(hand: ClaimInHand, trouble: string): Outcome {
    const waited = this.#clock.now() - (hand.since('InstanceRunning') ?? this.#clock.now());
    const message =
      waited < patience ? 'Waiting until the platform on the machine answers healthy' : trouble;
    return wait({ after: seconds(2), reason: 'PlatformNotHealthy', message });
  }
}

export function isNotHealthy(check: HealthCheck): boolean {
  return check.status !== 'healthy';
}

/** `The platform answers, but images is unknown, systemd is degraded`. */
export function textOf(sick: readonly HealthCheck[]): string {
  const names = sick.map(({ name, status }) => `${name} is ${status}`).toSorted();
  return `The platform answers, but ${names.join(', ')}`;
}
