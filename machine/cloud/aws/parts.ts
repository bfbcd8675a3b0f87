import {
  DeleteNetworkInterfaceCommand,
  DeleteVolumeCommand,
  type EC2Client,
  type NetworkInterface,
  paginateDescribeNetworkInterfaces,
  paginateDescribeVolumes,
  type Tag,
  type Volume,
} from '@aws-sdk/client-ec2';

import { tags } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';

import { codeOf, toMachineError } from '../../aws/errors.ts';
import { until } from '../../until.ts';
import type { InstancePart, InstanceParts } from '../provider.ts';
import type { Ec2Clients } from './clients.ts';

/** A part as EC2 shows it. */
export interface Ec2Part extends InstancePart {
  /** The instance that has it. */
  readonly instance: string | undefined;
}

/** Where the instances of a node class are. */
type Reach = (nodeClass: ResolvedNodeClass) => {
  readonly clients: Ec2Clients;
  readonly region: string;
};

/**
 * Volumes and network interfaces of a cluster's instances. Addresses are not among them: an instance gets its own from
 * its subnet, and they go back with its interface; the operator allocates none.
 */
export class Ec2Parts implements InstanceParts {
  readonly #reach: Reach;

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  async list(
    nodeClass: ResolvedNodeClass,
    clusterUid: string,
    signal: AbortSignal,
  ): Promise<readonly Ec2Part[]> {
    const { clients, region } = this.#reach(nodeClass);
    const of = { region, clusterUid };
    const both = Promise.all([volumesOf(clients.read, of), interfacesOf(clients.read, of)]);
    return (await until(both, signal)).flat();
  }

  async delete(nodeClass: ResolvedNodeClass, part: InstancePart, signal: AbortSignal) {
    await until(deletePart(this.#reach(nodeClass).clients.write, part), signal);
  }
}

interface Of {
  readonly region: string;
  readonly clusterUid: string;
}

/**
 * All volumes with the cluster's tag, all pages.
 *
 * @throws MachineError
 */
export async function volumesOf(ec2: EC2Client, of: Of): Promise<Ec2Part[]> {
  return listed(`Listing volumes in ${of.region}`, async () => {
    const found: Volume[] = [];
    const pages = paginateDescribeVolumes({ client: ec2, pageSize: 500 }, tagged(of));
    for await (const { Volumes = [] } of pages) found.push(...Volumes);
    return found.flatMap((volume) => ours(volume.Tags, of, (uid) => volumePart(volume, uid)));
  });
}

/** The same of network interfaces. */
export async function interfacesOf(ec2: EC2Client, of: Of): Promise<Ec2Part[]> {
  return listed(`Listing network interfaces in ${of.region}`, async () => {
    const found: NetworkInterface[] = [];
    const pages = paginateDescribeNetworkInterfaces({ client: ec2, pageSize: 500 }, tagged(of));
    for await (const { NetworkInterfaces = [] } of pages) found.push(...NetworkInterfaces);
    return found.flatMap((one) => ours(one.TagSet, of, (uid) => interfacePart(one, uid)));
  });
}

/** @throws MachineError when EC2 refuses, as it does for what an instance has; what is gone already is none */
export async function deletePart(ec2: EC2Client, { kind, id }: InstancePart): Promise<void> {
  try {
    if (kind === 'volume') await ec2.send(new DeleteVolumeCommand({ VolumeId: id }));
    else await ec2.send(new DeleteNetworkInterfaceCommand({ NetworkInterfaceId: id }));
  } catch (error) {
    if (gone.has(codeOf(error))) return;
    throw toMachineError(error, `Deleting ${id}`);
  }
}

const gone = new Set(['InvalidVolume.NotFound', 'InvalidNetworkInterfaceID.NotFound']);

function tagged({ clusterUid }: Of) {
  return { Filters: [{ Name: `tag:${tags.cluster}`, Values: [clusterUid] }] };
}

/** Tags are looked at again: a filter of EC2 is a pattern, and this must be the very cluster. */
function ours(
  own: readonly Tag[] = [],
  { clusterUid }: Of,
  toPart: (claimUid: string) => Ec2Part,
): Ec2Part[] {
  const valueOf = (key: string): string => own.find(({ Key }) => Key === key)?.Value ?? '';
  return valueOf(tags.cluster) === clusterUid ? [toPart(valueOf(tags.claimUid))] : [];
}

function volumePart(volume: Volume, claimUid: string): Ec2Part {
  const { VolumeId: id = '', AvailabilityZone: zone = '', State: state = '' } = volume;
  const instance = volume.Attachments?.[0]?.InstanceId;
  return { kind: 'volume', id, zone, claimUid, state, instance, isFree: state === 'available' };
}

function interfacePart(one: NetworkInterface, claimUid: string): Ec2Part {
  const { NetworkInterfaceId: id = '', AvailabilityZone: zone = '', Status: state = '' } = one;
  const instance = one.Attachment?.InstanceId;
  return { kind: 'interface', id, zone, claimUid, state, instance, isFree: state === 'available' };
}

async function listed<T>(doing: string, look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    throw toMachineError(error, doing);
  }
}
