import { tags } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import type { GcpSpec } from '#schemas/nodeclass/types.ts';

import { LaunchUnderWay } from '../../errors.ts';
import { GoogleError } from '../../gcp/google-error.ts';
import type { Instance, MachineIdentity } from '../../machine.ts';
import type { ComputeApi, Where } from './api.ts';
import { failed } from './errors.ts';
import { instanceName } from './labels.ts';
import type { Operations } from './operations.ts';
import { type Sighting, sightingOf, type Sightings } from './sightings.ts';
import type { Unmade } from './unmade.ts';

export interface FindingParts {
  readonly api: ComputeApi;
  readonly operations: Operations;
  readonly sightings: Sightings;
  readonly unmade: Unmade;
}

/**
 * What there is of one machine, in whatever zone. That there is nothing is believed only of two answers: neither the
 * list of all zones has it, nor does any zone of the class know its name; a single "not found" was seen to be false
 * (cloudpilot-ai/karpenter-provider-gcp#243). That one has ended is told by the operation that ended it.
 */
export class Finding {
  readonly #api: ComputeApi;
  readonly #operations: Operations;
  readonly #sightings: Sightings;
  readonly #unmade: Unmade;

  constructor({ api, operations, sightings, unmade }: FindingParts) {
    this.#api = api;
    this.#operations = operations;
    this.#sightings = sightings;
    this.#unmade = unmade;
  }

  /**
   * @throws LaunchUnderWay while it is not known what a launch comes to
   * @throws MachineError when some zone cannot be asked
   */
  async find(
    nodeClass: ResolvedNodeClass,
    gcp: GcpSpec,
    identity: MachineIdentity,
    signal: AbortSignal,
  ): Promise<readonly Instance[]> {
    const name = instanceName(identity);
    const [inserts, deletes] = await Promise.all([
      this.#operations.inserts(gcp.project, name, signal),
      this.#operations.deletes(gcp.project, name, signal),
    ]);
    if (inserts.some(({ result }) => result.kind === 'running')) throw underWay(name);
    const ended = deletes.filter(({ result }) => result.kind === 'done').map(over);
    const going = deletes.filter(({ result }) => result.kind === 'running').map(instanceIn);
    const isGoing = (one: Instance): boolean => going.some((other) => isSame(one, other));
    const listed = await this.#listed(gcp, identity, signal);
    const found = listed.length > 0 ? listed : await this.#named(nodeClass, gcp, identity, signal);
    const left = found.filter(({ instance }) => !ended.some((one) => isSame(instance, one)));
    if (left.some((one) => one.isTentative && !isGoing(one.instance))) throw underWay(name);
    const shown = left.map(instanceIn);
    return [...shown.map((one) => (isGoing(one) ? ending(one) : one)), ...ended];
  }

  async #listed(
    { project }: GcpSpec,
    identity: MachineIdentity,
    signal: AbortSignal,
  ): Promise<readonly Sighting[]> {
    const seen = await this.#sightings.seen(project, identity.clusterUid, signal);
    return seen.filter(({ instance }) => isOf(instance, identity));
  }

  /** Asks each zone that the class can have launched in, unless nothing can have been made. */
  async #named(
    { subnets }: ResolvedNodeClass,
    { project }: GcpSpec,
    identity: MachineIdentity,
    signal: AbortSignal,
  ): Promise<readonly Sighting[]> {
    const zones = [...new Set(subnets.map(({ zone }) => zone))];
    const instance = instanceName(identity);
    if (this.#unmade.has({ project, instance })) return [];
    const found = await Promise.all(
      zones.map(async (zone) => lookAt(this.#api, { project, zone, instance }, signal)),
    );
    return found.flatMap((one) => (one && isOf(one.instance, identity) ? [one] : []));
  }
}

/** @returns undefined when there is none of this name */
export async function lookAt(
  api: ComputeApi,
  where: Where,
  signal: AbortSignal,
): Promise<Sighting | undefined> {
  try {
    const found = await api.get(where, signal);
    return sightingOf(found);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GoogleError && error.status === 404) return undefined;
    throw failed(error, `Looking for instance ${where.instance} in ${where.zone}`);
  }
}

/** Whether it was made for this claim of this cluster, whatever it is called. */
export function isOf({ tags: carried }: Instance, identity: MachineIdentity): boolean {
  const { clusterUid, claimUid } = identity;
  return carried[tags.cluster] === clusterUid && carried[tags.claimUid] === claimUid;
}

export function underWay(name: string): LaunchUnderWay {
  return new LaunchUnderWay(`Google Cloud is making instance ${name}`);
}

/** Names are given again, in the same zone too. */
function isSame(one: Instance, other: Instance): boolean {
  return one.zone === other.zone && one.serial === other.serial;
}

function ending(instance: Instance): Instance {
  return { ...instance, state: 'terminating' };
}

function over({ instance }: { readonly instance: Instance }): Instance {
  return { ...instance, state: 'terminated' };
}

function instanceIn({ instance }: { readonly instance: Instance }): Instance {
  return instance;
}
