import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import type { GcpSpec } from '#schemas/nodeclass/types.ts';

import { GoogleError } from '../../gcp/google-error.ts';
import type { Instance } from '../../machine.ts';
import type { ComputeApi, Where } from './api.ts';
import { refusedEnd } from './errors.ts';
import { type FindingParts, lookAt } from './finding.ts';
import type { Operations } from './operations.ts';
import type { Sightings } from './sightings.ts';

/**
 * Deletes instances, each by one call: deletes that overlap have run a project into its rate limit, and were followed
 * by false answers (cloudpilot-ai/karpenter-provider-gcp#242). The end is proven by the operation.
 */
export class Ending {
  readonly #api: ComputeApi;
  readonly #operations: Operations;
  readonly #sightings: Sightings;

  constructor({ api, operations, sightings }: FindingParts) {
    this.#api = api;
    this.#operations = operations;
    this.#sightings = sightings;
  }

  /**
   * The instance as it is known here: what is being deleted may show as running for some seconds, and one whose delete
   * came to nothing is shown so for good, until its end is asked for again.
   */
  async shown(project: string, instance: Instance, signal: AbortSignal): Promise<Instance> {
    if (instance.state === 'terminating') return instance;
    const where = whereOf(project, instance);
    await this.#operations.doubt(where, instance, signal);
    const isEnding = this.#operations.isBeingDeleted(where, instance);
    return isEnding ? { ...instance, state: 'terminating' } : instance;
  }

  /** Ends every instance of this name in the zones of the class; where there is none nothing is to do. */
  async end(
    { subnets }: ResolvedNodeClass,
    { project }: GcpSpec,
    name: string,
    signal: AbortSignal,
  ): Promise<void> {
    const seen = this.#sightings.lastSeen(project, name);
    const zones = [...new Set(subnets.map(({ zone }) => zone))];
    const found =
      seen.length > 0
        ? seen
        : await Promise.all(
            zones.map(async (zone) => {
              const sighting = await lookAt(this.#api, { project, zone, instance: name }, signal);
              return sighting?.instance;
            }),
          );
    await Promise.all(
      found.map(async (instance) => instance && this.endOne(project, instance, signal)),
    );
  }

  /** @throws MachineError when the delete is refused, or nobody knows whether it was taken */
  async endOne(project: string, instance: Instance, signal: AbortSignal): Promise<void> {
    const where = whereOf(project, instance);
    if ((await this.shown(project, instance, signal)).state === 'terminating') return;
    try {
      const operation = await this.#api.delete(where, signal);
      this.#operations.deleted(where, operation, instance);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof GoogleError && error.status === 404) return;
      throw refusedEnd(error, `Ending instance ${where.instance}`);
    }
  }
}

function whereOf(project: string, { id, zone }: Instance): Where {
  return { project, zone, instance: id };
}
