import { wholeLists } from '#machine/cloud/gcp/aggregated.ts';
import type { ComputeApi } from '#machine/cloud/gcp/api.ts';
import { failed, refusedEnd } from '#machine/cloud/gcp/errors.ts';
import { instanceOf } from '#machine/cloud/gcp/instances.ts';
import { labelOf } from '#machine/cloud/gcp/labels.ts';
import { GoogleError } from '#machine/gcp/google-error.ts';
import type { Instance } from '#machine/machine.ts';
import { tags } from '#schemas/names.ts';
import { type Clock, minutes } from '#schemas/time/clock.ts';

import type { Failure, Leftover, Place } from '../place.ts';
import { removeEach } from '../remove-each.ts';

export interface ProjectToClean {
  readonly api: ComputeApi;
  readonly project: string;
  readonly clusterUid: string;
  readonly clock: Clock;
}

/** An instance is given 90 seconds to shut down, and its delete takes as long again. */
const longestEnd = minutes(15);

/** Machines of a cluster in one project, in whatever zone and state: one that is stopped is paid for too. */
export class InstancesInProject implements Place {
  readonly name: string;
  readonly #parts: ProjectToClean;

  constructor(parts: ProjectToClean) {
    this.#parts = parts;
    this.name = `instances in project ${parts.project}`;
  }

  async list(signal: AbortSignal): Promise<Leftover[]> {
    return (await this.#ours(signal)).map((instance) => {
      const { instanceType: type, state, zone, tags: own } = instance;
      return {
        kind: 'instance',
        id: idOf(instance),
        facts: { type, state, zone, claim: own[tags.claim] },
      };
    });
  }

  async remove(shown: readonly Leftover[], signal: AbortSignal): Promise<Failure[]> {
    const ids = new Set(shown.map(({ id }) => id));
    const look = async (): Promise<Instance[]> =>
      (await this.#ours(signal)).filter((one) => ids.has(idOf(one)));
    const removal = {
      look,
      idOf,
      stateOf: ({ state }: Instance) => state,
      // STOPPING is said of a delete and of a stop alike: what somebody stopped is asked to go once it has stopped.
      isLeaving: ({ state }: Instance) => state === 'terminating',
      end: async (instance: Instance) => this.#end(instance, signal),
      clock: this.#parts.clock,
      within: longestEnd,
    };
    return removeEach(removal, signal);
  }

  /** Of every zone of the project, or an error. The label is looked at again: it must be the very cluster. */
  async #ours(signal: AbortSignal): Promise<Instance[]> {
    const { api, project, clusterUid } = this.#parts;
    try {
      const filter = `labels.${labelOf.cluster}=${clusterUid}`;
      const pages = await api.aggregatedInstances(project, filter, signal);
      return wholeLists(pages, 'instances', () => true)
        .flatMap(({ instances = [] }) => instances)
        .map(instanceOf)
        .filter(({ tags: own }) => own[tags.cluster] === clusterUid);
    } catch (error) {
      signal.throwIfAborted();
      throw failed(error, `Listing instances of project ${project}`);
    }
  }

  /** @returns why it could not be asked to end */
  async #end({ id, zone }: Instance, signal: AbortSignal): Promise<string | undefined> {
    const { api, project } = this.#parts;
    try {
      await api.delete({ project, zone, instance: id }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof GoogleError && error.status === 404) return undefined;
      const { message, code } = refusedEnd(error, `Ending ${id}`);
      return `${message} (${code})`;
    }
    return undefined;
  }
}

/** A name is unique in its zone only. */
function idOf({ zone, id }: Instance): string {
  return `${zone}/${id}`;
}
