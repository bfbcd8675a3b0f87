import { tags } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import type { GcpSpec } from '#schemas/nodeclass/types.ts';

import { GoogleError } from '../../gcp/google-error.ts';
import type { Instance, InstanceToEnd } from '../../machine.ts';
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

  constructor({ api, operations, sightings }: Omit<FindingParts, 'unmade'>) {
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

  /**
   * Ends the instance of this name in its zone, or in each zone of the class; where there is none nothing is to do. One
   * of another claim or cluster is left alone: names are given again, and each cluster of a project gives its own.
   */
  async end(
    { subnets }: ResolvedNodeClass,
    { project }: GcpSpec,
    wanted: InstanceToEnd,
    signal: AbortSignal,
  ): Promise<void> {
    const isWanted = (one: Instance): boolean =>
      one.zone === (wanted.zone ?? one.zone) && isOwned(one, wanted);
    const seen = this.#sightings.lastSeen(project, wanted.id).filter(isWanted);
    const zones =
      wanted.zone === undefined ? new Set(subnets.map(({ zone }) => zone)) : [wanted.zone];
    const places = [...zones].map((zone) => ({ project, zone, instance: wanted.id }));
    const found = seen.length > 0 ? seen : await this.#lookIn(places, signal);
    await Promise.all(
      found.filter(isWanted).map(async (instance) => this.endOne(project, instance, signal)),
    );
  }

  async #lookIn(places: readonly Where[], signal: AbortSignal): Promise<Instance[]> {
    const found = await Promise.all(places.map(async (one) => lookAt(this.#api, one, signal)));
    return found.flatMap((sighting) => sighting?.instance ?? []);
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

function isOwned({ tags: carried }: Instance, { clusterUid, claimUid }: InstanceToEnd): boolean {
  const ofClaim = claimUid === undefined || carried[tags.claimUid] === claimUid;
  return carried[tags.cluster] === clusterUid && ofClaim;
}

function whereOf(project: string, { id, zone }: Instance): Where {
  return { project, zone, instance: id };
}
