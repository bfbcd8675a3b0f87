import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import { GoogleError } from '../../gcp/google-error.ts';
import type { InstancePart, InstanceParts } from '../provider.ts';
import { wholeLists } from './aggregated.ts';
import type { ComputeApi } from './api.ts';
import { failed } from './errors.ts';
import { regionOf } from './instances.ts';
import { labelOf } from './labels.ts';
import { type GceDisk, lastOf } from './resources.ts';
import { gcpOf } from './spec.ts';

/** A disk as Compute Engine shows it. */
export interface Disk extends InstancePart {
  /** The instance that has it. */
  readonly instance: string | undefined;
}

/**
 * Disks of a cluster's instances. An instance's interface is no thing of its own here, and its outside address is an
 * ephemeral one: both are gone with it.
 */
export class GceDisks implements InstanceParts {
  readonly #api: ComputeApi;

  constructor(api: ComputeApi) {
    this.#api = api;
  }

  async list(
    { spec }: ResolvedNodeClass,
    clusterUid: string,
    signal: AbortSignal,
  ): Promise<readonly Disk[]> {
    const { project, region } = gcpOf(spec);
    return disksOf(this.#api, { project, region, clusterUid }, signal);
  }

  async delete(
    { spec }: ResolvedNodeClass,
    part: InstancePart,
    signal: AbortSignal,
  ): Promise<void> {
    await deleteDisk(this.#api, gcpOf(spec).project, part, signal);
  }
}

/**
 * All disks of a project with the cluster's label, in one region or in all.
 *
 * @throws ListIncomplete where a zone in question could not be asked, and any other MachineError
 */
export async function disksOf(
  api: ComputeApi,
  of: { readonly project: string; readonly region?: string; readonly clusterUid: string },
  signal: AbortSignal,
): Promise<Disk[]> {
  const { project, region, clusterUid } = of;
  const isWanted = (zone: string): boolean => region === undefined || regionOf(zone) === region;
  try {
    const filter = `labels.${labelOf.cluster}=${clusterUid}`;
    const pages = await api.aggregatedDisks(project, filter, signal);
    return wholeLists(pages, 'disks', isWanted)
      .flatMap(({ disks = [] }) => disks)
      .filter(({ labels = {} }) => labels[labelOf.cluster] === clusterUid)
      .map(diskOf)
      .filter(({ zone }) => isWanted(zone));
  } catch (error) {
    signal.throwIfAborted();
    throw failed(error, `Listing disks of project ${project}`);
  }
}

/** @throws MachineError when it is refused, as it is for a disk that an instance has */
export async function deleteDisk(
  api: ComputeApi,
  project: string,
  { id, zone }: Pick<InstancePart, 'id' | 'zone'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.deleteDisk({ project, zone, disk: id }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof GoogleError && error.status === 404) return;
    throw failed(error, `Deleting disk ${id}`);
  }
}

function diskOf({ name = '', zone, status = '', users = [], labels = {} }: GceDisk): Disk {
  const [user] = users;
  return {
    kind: 'volume',
    id: name,
    zone: lastOf(zone),
    claimUid: labels[labelOf.claimUid] ?? '',
    state: status,
    instance: user === undefined ? undefined : lastOf(user),
    isFree: status === 'READY' && user === undefined,
  };
}
