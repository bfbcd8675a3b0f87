import type { InstancePart } from '#machine/cloud/provider.ts';

import type { Found, Outcome, Place } from '../place.ts';
import type { Region } from './instances.ts';

interface FoundPart extends Found {
  readonly part: InstancePart;
}

/** Volumes and network interfaces of the cluster's instances in one region. What an instance has is never touched. */
export class PartsThere implements Place<FoundPart> {
  readonly kind = 'part';
  readonly name: string;
  readonly #region: Region;

  constructor(region: Region) {
    this.#region = region;
    this.name = `volumes and network interfaces of ${region.name}`;
  }

  async list(signal: AbortSignal): Promise<readonly FoundPart[]> {
    const { cloud, nodeClass, clusterUid } = this.#region;
    return (await cloud.parts.list(nodeClass, clusterUid, signal)).map((part) => ({
      ...foundOf(part),
      nodeClass: nodeClass.nodeClass,
    }));
  }

  async remove({ part }: FoundPart, signal: AbortSignal): Promise<Outcome> {
    const { cloud, nodeClass } = this.#region;
    await cloud.parts.delete(nodeClass, part, signal);
    return 'going';
  }
}

function foundOf(part: InstancePart): FoundPart {
  const { kind, id, claimUid, zone, state, isFree } = part;
  const about = `${kind} in ${zone}, ${state}`;
  return { id, claimUid, about, part, ...(!isFree && { isBusy: true }) };
}
