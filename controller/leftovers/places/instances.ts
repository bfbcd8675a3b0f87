import type { CloudProvider } from '#machine/cloud/provider.ts';
import type { Instance } from '#machine/machine.ts';
import { tags } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { formatProviderID, parseProviderID } from '#schemas/provider-id.ts';

import type { Found, Outcome, Place } from '../place.ts';

/** A region of one account, which several node classes and many of their revisions may share. */
export interface Region {
  /** `aws eu-central-1` */
  readonly name: string;
  readonly cloud: CloudProvider;
  /** Any revision that leads there. */
  readonly nodeClass: ResolvedNodeClass;
  readonly clusterUid: string;
}

/** Instances of the cluster in one region, in whatever state: one that is stopped is paid for too. */
export class InstancesThere implements Place {
  readonly kind = 'instance';
  readonly name: string;
  readonly #region: Region;

  constructor(region: Region) {
    this.#region = region;
    this.name = `instances of ${region.name}`;
  }

  async list(signal: AbortSignal): Promise<readonly Found[]> {
    const { cloud, nodeClass, clusterUid } = this.#region;
    const all = await cloud.snapshot(nodeClass, clusterUid, signal);
    return all
      .filter(({ state, tags: own }) => own[tags.cluster] === clusterUid && state !== 'terminated')
      .map((instance) => foundOf(this.#region, instance));
  }

  async remove({ id, claimUid, providerID }: Found, signal: AbortSignal): Promise<Outcome> {
    const { cloud, nodeClass, clusterUid } = this.#region;
    const zone = parseProviderID(providerID ?? '')?.zone;
    const whose = { clusterUid, claimUid: claimUid === '' ? undefined : claimUid };
    await cloud.terminate(nodeClass, { id, zone, ...whose }, signal);
    return 'going';
  }
}

function foundOf({ cloud, nodeClass }: Region, instance: Instance): Found {
  const { id, region, zone, state, instanceType, tags: own } = instance;
  return {
    id,
    claimUid: own[tags.claimUid] ?? '',
    providerID: formatProviderID({ cloud: cloud.name, region, zone, id }),
    nodeClass: own[tags.nodeClass] ?? nodeClass.nodeClass,
    about: `${instanceType} in ${zone}, ${state}, of claim ${own[tags.claim] ?? 'without a name'}`,
    ...(state === 'terminating' && { isBusy: true }),
  };
}
