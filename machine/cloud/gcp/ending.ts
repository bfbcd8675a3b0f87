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

  isEnding(where: Where): boolean {
    return this.#operations.isBeingDeleted(where);
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
    const where = { project, zone: instance.zone, instance: instance.id };
    if (this.#operations.isBeingDeleted(where) || instance.state === 'terminating') return;
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
