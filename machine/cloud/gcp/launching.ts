import type { GcpSpec } from '#schemas/nodeclass/types.ts';

import { AttemptSpent, CreateError, Throttled } from '../../errors.ts';
import { GoogleError } from '../../gcp/google-error.ts';
import type { Instance } from '../../machine.ts';
import type { LaunchRequest } from '../provider.ts';
import type { ComputeApi, Where } from './api.ts';
import type { Ending } from './ending.ts';
import { type Refusal, refusalOf, shortageOf, toMachineError } from './errors.ts';
import { type FindingParts, isOf, lookAt, underWay } from './finding.ts';
import { instanceName } from './labels.ts';
import { instanceBody } from './launch.ts';
import type { Operations } from './operations.ts';
import { requestId } from './request-id.ts';
import type { Operation } from './resources.ts';
import type { Shortages } from './shortages.ts';
import type { Sighting, Sightings } from './sightings.ts';
import type { Unmade } from './unmade.ts';

export interface LaunchingParts extends FindingParts {
  readonly shortages: Shortages;
  readonly ending: Ending;
}

interface Job {
  readonly request: LaunchRequest;
  readonly gcp: GcpSpec;
  readonly where: Where;
  readonly signal: AbortSignal;
}

/**
 * Makes one instance, or finds that it is made, or being made, already.
 *
 * Two things keep it at one: the same request id gives the same operation for as long as Google remembers it, and a
 * name can be taken only once in a zone. Neither reaches over zones, so what an earlier try left in another zone, or
 * of another size, is ended before anything is made (cloudpilot-ai/karpenter-provider-gcp#199).
 */
export class Launching {
  readonly #api: ComputeApi;
  readonly #operations: Operations;
  readonly #sightings: Sightings;
  readonly #shortages: Shortages;
  readonly #ending: Ending;
  readonly #unmade: Unmade;

  constructor({ api, operations, sightings, shortages, ending, unmade }: LaunchingParts) {
    this.#api = api;
    this.#operations = operations;
    this.#sightings = sightings;
    this.#shortages = shortages;
    this.#ending = ending;
    this.#unmade = unmade;
  }

  /**
   * @returns the instance once its resources are there
   * @throws LaunchUnderWay until then; InsufficientCapacity when there was no room, which is marked
   */
  async launch(request: LaunchRequest, gcp: GcpSpec, signal: AbortSignal): Promise<Instance> {
    const { identity, candidate } = request;
    const where = {
      project: gcp.project,
      zone: candidate.zone,
      instance: instanceName(identity),
    };
    const job = { request, gcp, where, signal };
    await this.#clearAway(job);
    const known = await this.#operations.inserts(gcp.project, where.instance, signal);
    const own = known.find((one) => one.where.zone === where.zone);
    return own ? this.#conclude(job, own.result) : this.#insert(job);
  }

  /** Ends what is there for this claim and is not what is asked for. */
  async #clearAway({ request, gcp, where, signal }: Job): Promise<void> {
    const { identity, candidate } = request;
    const seen = await this.#sightings.seen(gcp.project, identity.clusterUid, signal);
    const leftovers = seen
      .map(({ instance }) => instance)
      .filter((instance) => isOf(instance, identity))
      .filter(
        ({ zone, instanceType, state }) =>
          zone !== where.zone || instanceType !== candidate.instanceType || state === 'stopped',
      );
    if (leftovers.length === 0) return;
    await Promise.all(
      leftovers.map(async (instance) => this.#ending.endOne(gcp.project, instance, signal)),
    );
    const places = leftovers.map(({ id, zone }) => `${id} in ${zone}`);
    throw underWay(`${where.instance} once what an earlier try left is gone: ${places.join(', ')}`);
  }

  async #insert(job: Job): Promise<Instance> {
    const { request, gcp, where, signal } = job;
    const body = instanceBody(request, gcp);
    const id = requestId(request.identity, request.candidate, body);
    try {
      const operation = await this.#asked(where, async () =>
        this.#api.insert(where, body, id, signal),
      );
      return await this.#conclude(job, this.#operations.inserted(where, operation));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof GoogleError)) throw error;
      if (error.status === 409) return this.#adopt(job, error);
      throw this.#refused(job, refusalOf(error));
    }
  }

  /** Keeps in mind that a call was refused for its rate, and so did nothing. */
  async #asked(where: Where, insert: () => Promise<Operation>): Promise<Operation> {
    try {
      const operation = await insert();
      this.#unmade.forget(where);
      return operation;
    } catch (error) {
      const isForTheRate = error instanceof GoogleError && error.isForTheRate;
      if (isForTheRate || error instanceof Throttled) this.#unmade.refused(where);
      else this.#unmade.forget(where);
      throw error;
    }
  }

  async #conclude(job: Job, result: ReturnType<Operations['inserted']>): Promise<Instance> {
    const { where, request, signal } = job;
    if (result.kind === 'running') throw underWay(where.instance);
    this.#operations.forgetInsert(where);
    if (result.kind === 'failed') throw this.#refused(job, result.refusal);
    const made = await lookAt(this.#api, where, signal);
    if (made) return this.#owned(job, made);
    const { attempt } = request.candidate;
    throw new AttemptSpent(`The instance of attempt ${attempt} is gone from ${where.zone} already`);
  }

  /** Somebody has the name: an earlier try of this very claim, or another program. */
  async #adopt(job: Job, error: GoogleError): Promise<Instance> {
    const present = await lookAt(this.#api, job.where, job.signal);
    if (!present) throw toMachineError(refusalOf(error), doing(job)); // it has just gone
    return this.#owned(job, present);
  }

  async #owned({ request, gcp, where, signal }: Job, present: Sighting): Promise<Instance> {
    const { instance } = present;
    if (!isOf(instance, request.identity)) {
      throw new CreateError(
        'NameTaken',
        `Instance ${where.instance} in ${where.zone} is not of this claim and is left alone`,
        'retry',
      );
    }
    const isWanted = instance.instanceType === request.candidate.instanceType;
    const isWell = instance.state === 'pending' || instance.state === 'running';
    if (isWanted && isWell && !present.isTentative) return instance;
    if (!isWanted || instance.state === 'stopped') {
      await this.#ending.endOne(gcp.project, instance, signal);
    }
    throw underWay(where.instance);
  }

  /** What ran out is marked, so that no other claim tries it in vain. */
  #refused(job: Job, refusal: Refusal): Error {
    const { request, gcp } = job;
    const known = toMachineError(refusal, doing(job));
    const shortage = shortageOf(refusal);
    if (shortage) {
      const { instanceType, zone, subnet } = request.candidate;
      const { project, region } = gcp;
      const place = { project, region, instanceType, zone, subnet };
      this.#shortages.mark(shortage, place, known.message, refusal.metric);
    }
    return known;
  }
}

function doing({ request }: Job): string {
  const { instanceType, zone } = request.candidate;
  return `Starting ${instanceType} in ${zone}`;
}
