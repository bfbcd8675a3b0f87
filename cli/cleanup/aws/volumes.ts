import { DeleteVolumeCommand, paginateDescribeVolumes, type Volume } from '@aws-sdk/client-ec2';

import { codeOf, toMachineError } from '#machine/cloud/aws/errors.ts';
import { tags } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';

import type { Failure, Leftover, Place } from '../place.ts';
import { settled } from '../settled.ts';
import type { RegionToClean } from './instances.ts';

/** A volume is let go in seconds once its instance has ended. */
const longestDetachment = minutes(3);

/** Disks of a cluster's machines in one region. Most go with their instance; these are deleted once they are free. */
export class VolumesInRegion implements Place {
  readonly name: string;
  readonly #parts: RegionToClean;

  constructor(parts: RegionToClean) {
    this.#parts = parts;
    this.name = `volumes in ${parts.region}`;
  }

  async list(): Promise<Leftover[]> {
    return (await this.#ours()).map((volume) => ({
      kind: 'volume',
      id: idOf(volume),
      about: `${volume.State} in ${volume.AvailabilityZone}${heldBy(volume)}`,
    }));
  }

  async remove(shown: readonly Leftover[], signal: AbortSignal): Promise<Failure[]> {
    const ids = new Set(shown.map(({ id }) => id));
    const look = async (): Promise<Volume[]> =>
      (await this.#ours()).filter((volume) => ids.has(idOf(volume)));
    const inUse = async (): Promise<Volume[]> => (await look()).filter(isHeld);
    const { clock } = this.#parts;
    await settled(inUse, { clock, within: longestDetachment }, signal);
    const failures: Failure[] = [];
    for (const volume of await look()) {
      // oxlint-disable-next-line no-await-in-loop -- few are left, and EC2 counts calls
      const why = isHeld(volume)
        ? `it is ${volume.State}${heldBy(volume)}.`
        : await this.#delete(volume);
      if (why !== undefined) failures.push({ id: idOf(volume), why });
    }
    return failures;
  }

  /** Not on their way out. Tags are looked at again: a filter of EC2 is a pattern. */
  async #ours(): Promise<Volume[]> {
    const { clients, region, clusterUid } = this.#parts;
    const Filters = [{ Name: `tag:${tags.cluster}`, Values: [clusterUid] }];
    const found: Volume[] = [];
    try {
      const pages = paginateDescribeVolumes({ client: clients.read, pageSize: 500 }, { Filters });
      for await (const { Volumes = [] } of pages) found.push(...Volumes);
    } catch (error) {
      throw toMachineError(error, `Listing volumes in ${region}`);
    }
    return found.filter(
      ({ Tags = [], State }) =>
        State !== 'deleting' &&
        State !== 'deleted' &&
        Tags.some(({ Key, Value }) => Key === tags.cluster && Value === clusterUid),
    );
  }

  /** @returns why it is still there */
  async #delete(volume: Volume): Promise<string | undefined> {
    const id = idOf(volume);
    try {
      await this.#parts.clients.write.send(new DeleteVolumeCommand({ VolumeId: id }));
    } catch (error) {
      if (codeOf(error) === 'InvalidVolume.NotFound') return undefined;
      const { message, code } = toMachineError(error, `Deleting ${id}`);
      return `${message} (${code})`;
    }
    return undefined;
  }
}

const idOf = ({ VolumeId = '' }: Volume): string => VolumeId;
const isHeld = ({ State }: Volume): boolean => State === 'in-use' || State === 'creating';

function heldBy({ Attachments = [] }: Volume): string {
  const [instance] = Attachments.map(({ InstanceId }) => InstanceId);
  return instance === undefined ? '' : `, attached to ${instance}`;
}
