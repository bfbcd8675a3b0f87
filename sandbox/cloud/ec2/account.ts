import type { Tags } from './lists.ts';
import type { InstanceSize, Region } from './region.ts';

export interface Subnet {
  readonly id: string;
  readonly zone: string;
  readonly zoneId: string;
  readonly vpc: string;
  readonly cidr: string;
  readonly tags: Tags;
  /** Addresses that no instance has; a test may set it to 0. */
  freeAddresses: number;
}

export interface SecurityGroup {
  readonly id: string;
  readonly name: string;
  readonly vpc: string;
  readonly tags: Tags;
}

export interface Image {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly architecture: 'x86_64' | 'arm64';
  readonly created: string;
  readonly rootDevice: string;
  /** What the image says of its root disk. False, as on many images: a launch that relies on it leaks a disk. */
  readonly rootDeletedOnTermination: boolean;
  /** Absent as on most: it starts from the firmware that a size has. */
  readonly bootMode?: 'uefi' | 'legacy-bios';
  /** Default true. */
  readonly ena?: boolean;
  readonly tags: Tags;
}

/** What exists in an account before any machine: a test adds to these lists or takes away. */
export interface Account {
  readonly id: string;
  readonly region: Region;
  readonly sizes: ReadonlyMap<string, InstanceSize>;
  readonly subnets: Subnet[];
  readonly securityGroups: SecurityGroup[];
  readonly images: Image[];
}

/** Who made the platform's images. */
export const imageOwner = '123456789012';

const discovery: Tags = { 'karpenter.sh/discovery': 'sandbox' };

/** What the ids of a region's things have in common: no two regions share one. */
interface Marks {
  readonly vpc: string;
  readonly subnet: string;
  readonly group: string;
  readonly image: string;
}

export const home: Marks = {
  vpc: 'vpc-05a2db0c5a2db0c50',
  subnet: 'subnet-0a00000000000000',
  group: 'sg-0b00000000000000',
  image: 'ami-0c00000000000000',
};
export const elsewhere: Marks = {
  vpc: 'vpc-05a2db0c5a2db0c51',
  subnet: 'subnet-0a00000000000010',
  group: 'sg-0b00000000000010',
  image: 'ami-0c00000000000010',
};

/**
 * One VPC with a subnet in each zone and a security group, all tagged `karpenter.sh/discovery=sandbox`, and an
 * image of the platform for each architecture. Instances do not really get addresses of these subnets, but
 * loopback ones (see machine/).
 */
export function defaultAccount(region: Region, marks: Marks): Account {
  const { vpc } = marks;
  return {
    id: imageOwner,
    region,
    sizes: new Map(region.sizes.map((size) => [size.type, size])),
    subnets: region.zones.map(({ name, id }, index) => ({
      id: `${marks.subnet}${index + 1}`,
      zone: name,
      zoneId: id,
      vpc,
      cidr: `10.0.${index * 32}.0/19`,
      tags: { ...discovery, Name: `sandbox-${name}` },
      freeAddresses: 8187,
    })),
    securityGroups: [
      { id: `${marks.group}1`, name: 'unikraft-machines', vpc, tags: discovery },
      { id: `${marks.group}2`, name: 'default', vpc, tags: {} },
    ],
    images: [
      image(`${marks.image}1`, 'unikraft-platform-1', 'x86_64'),
      image(`${marks.image}2`, 'unikraft-arm64-platform-1', 'arm64'),
    ],
  };
}

function image(id: string, name: string, architecture: Image['architecture']): Image {
  return {
    id,
    name,
    owner: imageOwner,
    architecture,
    created: '2026-10-01T08:00:00.000Z',
    rootDevice: '/dev/xvda',
    rootDeletedOnTermination: false,
    tags: {},
  };
}
