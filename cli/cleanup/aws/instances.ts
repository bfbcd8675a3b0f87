import { TerminateInstancesCommand } from '@aws-sdk/client-ec2';

import { codeOf, toMachineError } from '#machine/aws/errors.ts';
import type { Ec2Clients } from '#machine/cloud/aws/clients.ts';
import { instancesTagged } from '#machine/cloud/aws/instances.ts';
import type { Instance } from '#machine/machine.ts';
import { tags } from '#schemas/names.ts';
import { type Clock, minutes } from '#schemas/time/clock.ts';

import type { Failure, Leftover, Place } from '../place.ts';
import { removeEach } from '../remove-each.ts';

export interface RegionToClean {
  readonly clients: Ec2Clients;
  readonly region: string;
  readonly clusterUid: string;
  readonly clock: Clock;
}

/** An instance shuts down in a minute or two; bare metal takes up to ten. */
const longestEnd = minutes(15);

/** Machines of a cluster in one region, in whatever state: one that is stopped is paid for too. */
export class InstancesInRegion implements Place {
  readonly name: string;
  readonly #parts: RegionToClean;

  constructor(parts: RegionToClean) {
    this.#parts = parts;
    this.name = `instances in ${parts.region}`;
  }

  async list(): Promise<Leftover[]> {
    return (await this.#ours()).map(({ id, instanceType, zone, state, tags: own }) => ({
      kind: 'instance',
      id,
      facts: { type: instanceType, state, zone, claim: own[tags.claim] },
    }));
  }

  async remove(shown: readonly Leftover[], signal: AbortSignal): Promise<Failure[]> {
    const ids = new Set(shown.map(({ id }) => id));
    const look = async (): Promise<Instance[]> =>
      (await this.#ours()).filter(({ id }) => ids.has(id));
    const removal = {
      look,
      idOf: ({ id }: Instance) => id,
      stateOf: ({ state }: Instance) => state,
      end: async ({ id }: Instance) => this.#end(id), // one that is protected refuses a call for all
      clock: this.#parts.clock,
      within: longestEnd,
    };
    return removeEach(removal, signal);
  }

  /** Not ended yet. Tags are looked at again: a filter of EC2 is a pattern, and this must be the very cluster. */
  async #ours(): Promise<Instance[]> {
    const { clients, region, clusterUid } = this.#parts;
    try {
      const found = await instancesTagged(clients.read, region, { [tags.cluster]: clusterUid });
      return found.filter(
        ({ tags: own, state }) => own[tags.cluster] === clusterUid && state !== 'terminated',
      );
    } catch (error) {
      throw toMachineError(error, `Listing instances in ${region}`);
    }
  }

  /** @returns why it could not be asked to end */
  async #end(id: string): Promise<string | undefined> {
    try {
      await this.#parts.clients.write.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
    } catch (error) {
      if (codeOf(error) === 'InvalidInstanceID.NotFound') return undefined;
      const { message, code } = toMachineError(error, `Ending ${id}`);
      return `${message} (${code})`;
    }
    return undefined;
  }
}
