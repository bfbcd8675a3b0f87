import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import { ListIncomplete } from '../../errors.ts';
import { GoogleError } from '../../gcp/google-error.ts';
import type { InstancePart, InstanceParts } from '../provider.ts';
import type { ComputeApi } from './api.ts';
import { failed } from './errors.ts';
import { regionOf } from './instances.ts';
import { labelOf } from './labels.ts';
import { type AggregatedDisks, type GceDisk, lastOf } from './resources.ts';
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
    refuseHoles(pages, isWanted);
    const lists = pages.flatMap(({ items = {} }) => Object.values(items));
    return lists
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

/** A zone without disks on a page says so by a warning; any other warning is a zone that was not asked. */
function refuseHoles(pages: readonly AggregatedDisks[], isWanted: (zone: string) => boolean): void {
  const scopes = pages.flatMap(({ items = {} }) => Object.entries(items));
  const warned = scopes
    .filter(([, { warning }]) => warning && warning.code !== 'NO_RESULTS_ON_PAGE')
    .map(([scope]) => scope);
  const unreachable = pages.flatMap(({ unreachables = [] }) => unreachables);
  const holes = [...warned, ...unreachable].map(lastOf).filter(isWanted);
  if (holes.length === 0) return;
  const zones = [...new Set(holes)].join(', ');
  throw new ListIncomplete(
    `Google Cloud did not list the disks of ${zones}: nothing is concluded from what it did list`,
  );
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
