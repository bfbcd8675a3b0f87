/**
 * Judges a RunInstances call as EC2 does and in its words.
 * Source: EC2 API reference, RunInstances and "Error codes".
 */
import { CloudError } from '../wire/service.ts';
import type { Account, Image, SecurityGroup, Subnet } from './account.ts';
import type { Launch, Volume } from './instance.ts';
import { readTags, type Tags } from './lists.ts';
import type { Parameters } from './parameters.ts';
import type { InstanceSize } from './region.ts';

/** Largest user data, before base64. */
const userDataLimit = 16_384;

/** @returns what is to be started; throws {@link CloudError} for what cannot be */
export function readLaunch(parameters: Parameters, account: Account): Launch {
  const image = imageOf(parameters.required('ImageId'), account);
  const subnet = subnetOf(parameters, account);
  const size = sizeOf(parameters.required('InstanceType'), account, subnet);
  refuseArchitecture(size, image);
  const tags = tagsByResource(parameters);
  return {
    image,
    size,
    subnet,
    groups: groupsOf(parameters, account, subnet),
    clientToken: parameters.text('ClientToken'),
    public: parameters.flag('NetworkInterface.1.AssociatePublicIpAddress') ?? false,
    userData: userDataOf(parameters),
    profile: parameters.text('IamInstanceProfile.Name'),
    nested: nestedOf(parameters, size),
    protectedFromTermination: parameters.flag('DisableApiTermination') ?? false,
    metadata: {
      tokens: parameters.text('MetadataOptions.HttpTokens') ?? 'optional',
      hopLimit: parameters.count('MetadataOptions.HttpPutResponseHopLimit', 1, 64) ?? 1,
      tags: parameters.text('MetadataOptions.InstanceMetadataTags') ?? 'disabled',
    },
    volumes: volumesOf(parameters, image, tags.get('volume') ?? {}),
    tags: tags.get('instance') ?? {},
    interfaceTags: tags.get('network-interface') ?? {},
  };
}

export function imageOf(id: string, { images }: Account): Image {
  if (!/^ami-[0-9a-f]{8,17}$/.test(id)) {
    throw new CloudError('InvalidAMIID.Malformed', `Invalid id: "${id}" (expecting "ami-...")`);
  }
  const image = images.find((one) => one.id === id);
  if (image) return image;
  throw new CloudError('InvalidAMIID.NotFound', `The image id '[${id}]' does not exist`);
}

/** Named for the call, or for its first interface. */
export function subnetIdOf(parameters: Parameters): string | undefined {
  return parameters.text('SubnetId') ?? parameters.text('NetworkInterface.1.SubnetId');
}

/** Where a call wants its instance; undefined when it names no subnet that exists. */
export function zoneOf(parameters: Parameters, { subnets }: Account): string | undefined {
  return subnets.find(({ id }) => id === subnetIdOf(parameters))?.zone;
}

function subnetOf(parameters: Parameters, { subnets }: Account): Subnet {
  const id = subnetIdOf(parameters);
  if (id === undefined) {
    throw new CloudError(
      'MissingInput',
      'No subnets found for the default VPC. Please specify a subnet.',
    );
  }
  const subnet = subnets.find((one) => one.id === id);
  if (!subnet)
    throw new CloudError('InvalidSubnetID.NotFound', `The subnet ID '${id}' does not exist`);
  if (subnet.freeAddresses > 0) return subnet;
  const full = `There are not enough free addresses in subnet '${id}' to satisfy the requested number of instances.`;
  throw new CloudError('InsufficientFreeAddressesInSubnet', full);
}

function sizeOf(type: string, { sizes, region }: Account, { zone, zoneId }: Subnet): InstanceSize {
  const size = sizes.get(type);
  if (!size)
    throw new CloudError('InvalidParameterValue', `Invalid value '${type}' for InstanceType.`);
  if (region.sells(type, zoneId)) return size;
  const elsewhere = `Your requested instance type (${type}) is not supported in your requested Availability Zone (${zone}).`;
  throw new CloudError('Unsupported', elsewhere);
}

function refuseArchitecture(size: InstanceSize, image: Image): void {
  if (size.architecture === image.architecture) return;
  const both = `The architecture '${size.architecture}' of the specified instance type does not match the architecture '${image.architecture}' of the specified AMI.`;
  throw new CloudError('InvalidParameterValue', both);
}

function groupsOf(parameters: Parameters, account: Account, subnet: Subnet): SecurityGroup[] {
  const direct = parameters.list('SecurityGroupId');
  const ids = direct.length > 0 ? direct : parameters.list('NetworkInterface.1.SecurityGroupId');
  return ids.map((id) => {
    const group = account.securityGroups.find((one) => one.id === id);
    if (!group)
      throw new CloudError('InvalidGroup.NotFound', `The security group '${id}' does not exist`);
    if (group.vpc === subnet.vpc) return group;
    const apart = `Security group ${id} and subnet ${subnet.id} belong to different networks.`;
    throw new CloudError('InvalidParameter', apart);
  });
}

function nestedOf(parameters: Parameters, size: InstanceSize): boolean {
  if (parameters.text('CpuOptions.NestedVirtualization') !== 'enabled') return false;
  if (size.nested) return true;
  const refused = `The instance type '${size.type}' does not support nested virtualization.`;
  throw new CloudError('UnsupportedOperation', refused);
}

function userDataOf(parameters: Parameters): string {
  const encoded = parameters.text('UserData') ?? '';
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) {
    throw new CloudError('InvalidParameterValue', 'Invalid BASE64 encoding of user data');
  }
  const raw = Buffer.from(encoded, 'base64');
  if (raw.length <= userDataLimit) return raw.toString('utf8');
  throw new CloudError('InvalidParameterValue', `User data is limited to ${userDataLimit} bytes`);
}

const taggable = new Set(['instance', 'volume', 'network-interface', 'spot-instances-request']);

function tagsByResource(parameters: Parameters): Map<string, Tags> {
  const specifications = parameters.structures('TagSpecification').map((one) => {
    const type = one.required('ResourceType');
    if (taggable.has(type)) return [type, readTags(one.structures('Tag'))] as const;
    const refused = `'${type}' is not a valid taggable resource type for this operation.`;
    throw new CloudError('InvalidParameterValue', refused);
  });
  return new Map(specifications);
}

/** The root disk of the image, changed and joined by what the call maps. */
function volumesOf(parameters: Parameters, image: Image, tags: Tags): Volume[] {
  const volumes = new Map<string, boolean>([[image.rootDevice, image.rootDeletedOnTermination]]);
  for (const mapping of parameters.structures('BlockDeviceMapping')) {
    const device = mapping.required('DeviceName');
    const inherited = volumes.get(device) ?? true;
    volumes.set(device, mapping.flag('Ebs.DeleteOnTermination') ?? inherited);
  }
  return [...volumes].map(([device, deletedOnTermination]) => ({
    device,
    deletedOnTermination,
    tags,
  }));
}
