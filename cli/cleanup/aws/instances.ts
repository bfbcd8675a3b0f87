import { TerminateInstancesCommand } from '@aws-sdk/client-ec2';

import type { Ec2Clients } from '#machine/cloud/aws/clients.ts';
import { codeOf, toMachineError } from '#machine/cloud/aws/errors.ts';
import { instancesTagged } from '#machine/cloud/aws/instances.ts';
import type { Instance } from '#machine/machine.ts';
import { tags } from '#schemas/names.ts';
import { type Clock, minutes } from '#schemas/time/clock.ts';

import type { Failure, Leftover, Place } from '../place.ts';
import { settled } from '../settled.ts';

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
      about: `${instanceType} in ${zone}, ${state}, of ${own[tags.claim] ?? 'no claim'}`,
    }));
  }

  async remove(shown: readonly Leftover[], signal: AbortSignal): Promise<Failure[]> {
    const ids = new Set(shown.map(({ id }) => id));
    const look = async (): Promise<Instance[]> =>
      (await this.#ours()).filter(({ id }) => ids.has(id));
    const refused = new Map<string, string>();
    for (const { id } of await look()) {
      // oxlint-disable-next-line no-await-in-loop -- one call each: one that is protected refuses a call for all
      const why = await this.#end(id);
      if (why !== undefined) refused.set(id, why);
    }
    const ending = async (): Promise<Instance[]> =>
      (await look()).filter(({ id }) => !refused.has(id));
    const slow = await settled(ending, { clock: this.#parts.clock, within: longestEnd }, signal);
    return [
      ...[...refused].map(([id, why]) => ({ id, why })),
      ...slow.map(({ id, state }) => ({ id, why: `it is ${state} after 15 minutes.` })),
    ];
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
