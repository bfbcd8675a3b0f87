import type {
  BlockDeviceMapping,
  RunInstancesCommandInput,
  Tag,
  VolumeType,
} from '@aws-sdk/client-ec2';

import type { AwsSpec, BlockDevice } from '#schemas/nodeclass/types.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import type { MachineIdentity } from '../../machine.ts';
import type { LaunchRequest } from '../provider.ts';
import { clientToken } from './client-token.ts';
import { ownTags } from './own-tags.ts';

const bytesPerGiB = 1n << 30n;

/**
 * The one call that makes a machine: pure, so that every call for one candidate is the same to the byte, token
 * included.
 */
export function runInstancesInput(request: LaunchRequest, aws: AwsSpec): RunInstancesCommandInput {
  const { identity, nodeClass, candidate } = request;
  const parameters = {
    MinCount: 1,
    MaxCount: 1,
    ImageId: nodeClass.image.id,
    InstanceType: candidate.instanceType as NonNullable<RunInstancesCommandInput['InstanceType']>,
    UserData: Buffer.from(request.userData).toString('base64'),
    ...networkOf(request),
    // a machine that shuts itself down is over: stopped, it would stay and its disks be paid for
    InstanceInitiatedShutdownBehavior: 'terminate',
    // one hop: guests, which are other people's programs, must not reach the machine's identity
    MetadataOptions: {
      HttpEndpoint: 'enabled',
      HttpTokens: 'required',
      HttpPutResponseHopLimit: 1,
      InstanceMetadataTags: 'disabled',
    },
    BlockDeviceMappings: blockDevices(aws.blockDevices ?? [], nodeClass.image.rootDeviceName),
    // metal has the processor's virtualisation to itself and refuses the option
    ...(candidate.metal ? {} : { CpuOptions: { NestedVirtualization: 'enabled' as const } }),
    ...(aws.instanceProfile === undefined
      ? {}
      : { IamInstanceProfile: profile(aws.instanceProfile) }),
    ...(aws.capacityReservationPreference === undefined
      ? {}
      : {
          CapacityReservationSpecification: {
            CapacityReservationPreference: aws.capacityReservationPreference,
          },
        }),
    TagSpecifications: (['instance', 'volume', 'network-interface'] as const).map(
      (ResourceType) => ({
        ResourceType,
        Tags: tagsOf(identity, nodeClass.spec.tags ?? {}),
      }),
    ),
  } satisfies RunInstancesCommandInput;
  return { ...parameters, ClientToken: clientToken(identity, candidate, parameters) };
}

/** Ours come last and win: a user's tag that replaced one would hide the machine from us, and it would never end. */
function tagsOf(identity: MachineIdentity, users: Readonly<Record<string, string>>): Tag[] {
  return Object.entries({ ...users, ...ownTags(identity) })
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([Key, Value]) => ({ Key, Value }));
}

/** A public address can be asked for only on an interface that is spelled out; else the subnet decides. */
function networkOf({ nodeClass, candidate }: LaunchRequest): Partial<RunInstancesCommandInput> {
  if (nodeClass.spec.dns.addressType !== 'External') {
    return { SubnetId: candidate.subnet, SecurityGroupIds: nodeClass.securityGroups };
  }
  const external = {
    DeviceIndex: 0,
    SubnetId: candidate.subnet,
    Groups: nodeClass.securityGroups,
    AssociatePublicIpAddress: true,
    DeleteOnTermination: true,
  };
  return { NetworkInterfaces: [external] };
}

/**
 * Every disk with its encryption and its end written out: an image's own "keep it" would leave a volume behind each
 * machine. The root disk is always among them; without a size it is as large as the image.
 */
function blockDevices(devices: readonly BlockDevice[], root: string): BlockDeviceMapping[] {
  const named = nameDevices(devices, root);
  const hasRoot = named.some(({ DeviceName }) => DeviceName === root);
  return hasRoot ? named : [{ DeviceName: root, Ebs: ebs({}) }, ...named];
}

/** The first disk without a name is the root disk; further ones are /dev/sdf, /dev/sdg, … as EC2 recommends. */
function nameDevices(devices: readonly BlockDevice[], root: string): BlockDeviceMapping[] {
  const taken = new Set(devices.flatMap(({ deviceName }) => deviceName ?? []));
  const free = [root, ...Array.from('fghijklmnop', (letter) => `/dev/sd${letter}`)].filter(
    (name) => !taken.has(name),
  );
  return devices.map((device) => ({
    DeviceName: device.deviceName ?? free.shift(),
    Ebs: ebs(device),
  }));
}

function ebs(device: Partial<BlockDevice>): NonNullable<BlockDeviceMapping['Ebs']> {
  const { volumeSize, volumeType = 'gp3', iops, throughput, encrypted = true, kmsKeyID } = device;
  return {
    VolumeType: volumeType as VolumeType,
    Encrypted: encrypted,
    DeleteOnTermination: true,
    ...(volumeSize === undefined ? {} : { VolumeSize: gibibytes(volumeSize) }),
    ...(iops === undefined ? {} : { Iops: iops }),
    ...(throughput === undefined ? {} : { Throughput: throughput }),
    ...(kmsKeyID === undefined ? {} : { KmsKeyId: kmsKeyID }),
  };
}

/** Whole GiB, rounded up: never less disk than was asked for. */
function gibibytes(size: string): number {
  return Number((Quantity.parse(size).toInteger() + bytesPerGiB - 1n) / bytesPerGiB);
}

function profile(nameOrArn: string): { Arn: string } | { Name: string } {
  return nameOrArn.startsWith('arn:') ? { Arn: nameOrArn } : { Name: nameOrArn };
}
