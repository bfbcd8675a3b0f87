/** Describe calls for what is there before any machine. Element names: EC2 API reference, data types. */
import { CloudError } from '../wire/service.ts';
import { items, type XmlTree } from '../wire/xml.ts';
import type { Account, Image, SecurityGroup, Subnet } from './account.ts';
import { imageOf } from './launch.ts';
import { filtered, page, tagSet } from './lists.ts';
import type { Parameters } from './parameters.ts';
import type { InstanceSize } from './region.ts';

export function describeSubnets(parameters: Parameters, account: Account): XmlTree {
  const missing = (id: string): CloudError =>
    new CloudError('InvalidSubnetID.NotFound', `The subnet ID '${id}' does not exist`);
  const named = chosen(parameters.list('SubnetId'), account.subnets, ({ id }) => id, missing);
  const facts = ({ id, vpc, zone, zoneId, cidr }: Subnet) => ({
    'subnet-id': id,
    'vpc-id': vpc,
    'availability-zone': zone,
    'availability-zone-id': zoneId,
    'cidr-block': cidr,
    state: 'available',
  });
  const found = filtered(named, parameters, facts, ({ tags }) => tags);
  const { page: shown, nextToken } = page(found, parameters, { least: 5, most: 1000 });
  return { subnetSet: items(shown.map((subnet) => subnetTree(subnet, account))), nextToken };
}

function subnetTree(subnet: Subnet, account: Account): XmlTree {
  return {
    subnetId: subnet.id,
    subnetArn: `arn:aws:ec2:${account.region.name}:${account.id}:subnet/${subnet.id}`,
    state: 'available',
    vpcId: subnet.vpc,
    cidrBlock: subnet.cidr,
    availableIpAddressCount: subnet.freeAddresses,
    availabilityZone: subnet.zone,
    availabilityZoneId: subnet.zoneId,
    defaultForAz: false,
    mapPublicIpOnLaunch: false,
    ownerId: account.id,
    tagSet: tagSet(subnet.tags),
  };
}

export function describeSecurityGroups(parameters: Parameters, account: Account): XmlTree {
  const missing = (id: string): CloudError =>
    new CloudError('InvalidGroup.NotFound', `The security group '${id}' does not exist`);
  const named = chosen(parameters.list('GroupId'), account.securityGroups, ({ id }) => id, missing);
  const facts = ({ id, name, vpc }: SecurityGroup) => ({
    'group-id': id,
    'group-name': name,
    'vpc-id': vpc,
  });
  const found = filtered(named, parameters, facts, ({ tags }) => tags);
  const { page: shown, nextToken } = page(found, parameters, { least: 5, most: 1000 });
  const tree = ({ id, name, vpc, tags }: SecurityGroup): XmlTree => ({
    ownerId: account.id,
    groupId: id,
    groupName: name,
    groupDescription: name,
    vpcId: vpc,
    tagSet: tagSet(tags),
  });
  return { securityGroupInfo: items(shown.map(tree)), nextToken };
}

export function describeImages(parameters: Parameters, account: Account): XmlTree {
  const ids = parameters.list('ImageId');
  const named = ids.length > 0 ? ids.map((id) => imageOf(id, account)) : account.images;
  const owners = parameters.list('Owner').map((owner) => (owner === 'self' ? account.id : owner));
  const owned = named.filter(({ owner }) => owners.length === 0 || owners.includes(owner));
  const facts = (image: Image) => ({
    'image-id': image.id,
    'owner-id': image.owner,
    'root-device-type': 'ebs',
    'virtualization-type': 'hvm',
    'is-public': 'false',
    name: image.name,
    architecture: image.architecture,
    state: 'available',
  });
  const found = filtered(owned, parameters, facts, ({ tags }) => tags);
  const { page: shown, nextToken } = page(found, parameters, { least: 1, most: 1000 });
  return { imagesSet: items(shown.map(imageTree)), nextToken };
}

function imageTree(image: Image): XmlTree {
  const rootDisk = {
    deviceName: image.rootDevice,
    ebs: {
      deleteOnTermination: image.rootDeletedOnTermination,
      volumeSize: 20,
      volumeType: 'gp3',
      encrypted: false,
    },
  };
  return {
    imageId: image.id,
    imageLocation: `${image.owner}/${image.name}`,
    imageState: 'available',
    imageOwnerId: image.owner,
    imageType: 'machine',
    name: image.name,
    architecture: image.architecture,
    creationDate: image.created,
    isPublic: false,
    rootDeviceType: 'ebs',
    rootDeviceName: image.rootDevice,
    virtualizationType: 'hvm',
    hypervisor: 'xen',
    enaSupport: image.ena ?? true,
    bootMode: image.bootMode,
    blockDeviceMapping: items([rootDisk]),
    tagSet: tagSet(image.tags),
  };
}

export function describeInstanceTypes(parameters: Parameters, { sizes }: Account): XmlTree {
  const named = chosen(
    parameters.list('InstanceType'),
    [...sizes.values()],
    ({ type }) => type,
    unknownTypes,
  );
  const facts = (size: InstanceSize) => ({
    'instance-type': size.type,
    'bare-metal': String(size.metal),
    'processor-info.supported-architecture': size.architecture,
    'processor-info.supported-features': featuresOf(size),
    'supported-usage-class': ['on-demand', 'spot'],
    'current-generation': 'true',
    'vcpu-info.default-vcpus': String(size.vcpus),
    'memory-info.size-in-mib': String(size.memoryMiB),
  });
  const found = filtered(named, parameters, facts);
  const { page: shown, nextToken } = page(found, parameters, { least: 5, most: 100 });
  return { instanceTypeSet: items(shown.map(sizeTree)), nextToken };
}

function unknownTypes(type: string): CloudError {
  const message = `The following supplied instance types do not exist: [${type}]`;
  return new CloudError('InvalidInstanceType', message);
}

const featuresOf = ({ nested }: InstanceSize): string[] =>
  nested ? ['nested-virtualization'] : [];

/** Graviton starts from UEFI alone; one old metal size stands here for those of Intel that cannot. */
function bootModesOf({ architecture, type }: InstanceSize): string[] {
  if (architecture === 'arm64') return ['uefi'];
  return type === 'c5.metal' ? ['legacy-bios'] : ['legacy-bios', 'uefi'];
}

function sizeTree(size: InstanceSize): XmlTree {
  const storage = size.localNvmeGB > 0;
  return {
    instanceType: size.type,
    currentGeneration: true,
    bareMetal: size.metal,
    hypervisor: size.metal ? undefined : 'nitro',
    supportedUsageClasses: items(['on-demand', 'spot']),
    supportedVirtualizationTypes: items(['hvm']),
    supportedRootDeviceTypes: items(['ebs']),
    supportedBootModes: items(bootModesOf(size)),
    processorInfo: {
      supportedArchitectures: items([size.architecture]),
      supportedFeatures: items(featuresOf(size)),
    },
    vCpuInfo: {
      defaultVCpus: size.vcpus,
      defaultCores: Math.max(1, size.vcpus / 2),
      defaultThreadsPerCore: 2,
    },
    memoryInfo: { sizeInMiB: size.memoryMiB },
    instanceStorageSupported: storage,
    instanceStorageInfo: storage ? { totalSizeInGB: size.localNvmeGB } : undefined,
    networkInfo: { maximumNetworkInterfaces: size.maxInterfaces, enaSupport: 'required' },
  };
}

export function describeInstanceTypeOfferings(parameters: Parameters, account: Account): XmlTree {
  const locationType = parameters.text('LocationType') ?? 'region';
  const found = filtered(offerings(locationType, account), parameters, (one) => ({
    'instance-type': one.instanceType,
    location: one.location,
  }));
  const { page: shown, nextToken } = page(found, parameters, { least: 5, most: 1000 });
  return { instanceTypeOfferingSet: items(shown), nextToken };
}

function offerings(
  locationType: string,
  { region }: Account,
): { instanceType: string; locationType: string; location: string }[] {
  const places: Record<string, (zone: { name: string; id: string }) => string> = {
    region: () => region.name,
    'availability-zone': ({ name }) => name,
    'availability-zone-id': ({ id }) => id,
  };
  const placeOf = places[locationType];
  if (!placeOf) {
    throw new CloudError(
      'InvalidParameterValue',
      `Invalid value '${locationType}' for LocationType.`,
    );
  }
  const zones = locationType === 'region' ? region.zones.slice(0, 1) : region.zones;
  return zones.flatMap((zone) =>
    region.sizes
      .filter(({ type }) => region.sells(type, zone.id))
      .map(({ type }) => ({ instanceType: type, locationType, location: placeOf(zone) })),
  );
}

export function describeAvailabilityZones(parameters: Parameters, { region }: Account): XmlTree {
  const names = parameters.list('ZoneName');
  const zones = region.zones.filter(({ name }) => names.length === 0 || names.includes(name));
  const found = filtered(zones, parameters, ({ name, id }) => ({
    'zone-name': name,
    'zone-id': id,
    'zone-type': 'availability-zone',
    'opt-in-status': 'opt-in-not-required',
    'region-name': region.name,
    state: 'available',
  }));
  return {
    availabilityZoneInfo: items(
      found.map(({ name, id }) => ({
        zoneName: name,
        zoneId: id,
        zoneState: 'available',
        zoneType: 'availability-zone',
        optInStatus: 'opt-in-not-required',
        regionName: region.name,
        groupName: region.name,
      })),
    ),
  };
}

/** The things with these ids, or all when none is named; throws for the first that is missing. */
function chosen<T>(
  ids: readonly string[],
  things: readonly T[],
  idOf: (thing: T) => string,
  missing: (id: string) => CloudError,
): readonly T[] {
  if (ids.length === 0) return things;
  return ids.map((id) => {
    const thing = things.find((one) => idOf(one) === id);
    if (thing) return thing;
    throw missing(id);
  });
}
