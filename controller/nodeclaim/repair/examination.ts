import { isTrue } from '#kube/conditions.ts';
import { MachineError, PlatformUnauthorized, PlatformUnavailable } from '#machine/errors.ts';
import type { PlatformEndpoint } from '#machine/machine.ts';
import type { PlatformApi } from '#machine/platform/api.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import type { Caches } from '../../caches.ts';
import { isNotHealthy, textOf } from '../launch/health.ts';
import type { Machines } from '../machine/machines.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { diagnose, type Diagnosis, type Platform } from './diagnosis.ts';

/** A claim that was looked at, and what was found. */
export interface Patient {
  readonly hand: ClaimInHand;
  readonly node: Live<Node>;
  readonly diagnosis: Diagnosis;
}

/** Asks the platform on a machine and looks at its Node: two witnesses that do not speak through each other. */
export class Examination {
  readonly #caches: Pick<Caches, 'nodes'>;
  readonly #machines: Machines;
  readonly #platform: PlatformApi;

  constructor(caches: Pick<Caches, 'nodes'>, machines: Machines, platform: PlatformApi) {
    this.#caches = caches;
    this.#machines = machines;
    this.#platform = platform;
  }

  /**
   * @returns undefined for a machine that cannot be judged now: it has no Node, its instance does not run (which is found
   *   out elsewhere), or the cloud or its credentials cannot be had
   */
  async of(hand: ClaimInHand, signal: AbortSignal): Promise<Patient | undefined> {
    const node = this.#caches.nodes.get(hand.status.nodeName ?? '');
    if (!node || node.metadata.deletionTimestamp !== undefined) return undefined;
    const endpoint = await this.#endpoint(hand, signal);
    if (!endpoint) return undefined;
    const platform = await this.#ask(endpoint, signal);
    const isReady = isTrue(node.status?.conditions, 'Ready');
    return { hand, node, diagnosis: diagnose(platform, isReady) };
  }

  async #endpoint(hand: ClaimInHand, signal: AbortSignal): Promise<PlatformEndpoint | undefined> {
    try {
      hand.instance = await this.#machines.instance(hand, signal);
      if (hand.instance?.state !== 'running') return undefined;
      return await this.#machines.endpoint(hand);
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
      return undefined;
    }
  }

  /** A platform that refuses its own token has lost its users: it answers, and is of no use to anybody. */
  async #ask(endpoint: PlatformEndpoint, signal: AbortSignal): Promise<Platform> {
    try {
      const sick = (await this.#platform.health(endpoint, signal)).filter(isNotHealthy);
      return sick.length === 0 ? { says: 'healthy' } : { says: 'sick', why: textOf(sick) };
    } catch (error) {
      if (error instanceof PlatformUnavailable) return { says: 'nothing', why: error.message };
      if (error instanceof PlatformUnauthorized) return { says: 'sick', why: error.message };
      throw error;
    }
  }
}
