import {
  type EC2Client,
  type InstanceTypeInfo,
  paginateDescribeInstanceTypeOfferings,
  paginateDescribeInstanceTypes,
} from '@aws-sdk/client-ec2';

import type { MachineType } from '#schemas/instances/instance-type.ts';
import { type Clock, minutes } from '#schemas/time/clock.ts';

import type { AwsConnection } from '../../aws/config.ts';
import { connectionKey } from './clients.ts';
import { toMachineError } from './errors.ts';
import { familyOf } from './prices.ts';
import { Shared } from './shared.ts';

/** What one account is sold in one region: sizes that can run guests, and where. */
export interface RegionSizes {
  readonly types: readonly MachineType[];
  /** Zone name → types that are sold there. Sold does not mean in stock. */
  readonly soldIn: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Sizes by region, asked for every five minutes at most. When the cloud cannot say, the last good answer stands: an
 * outage of Describe calls must not look like a region without machines.
 */
export class InstanceTypes {
  readonly #shared: Shared<RegionSizes>;
  readonly #lastGood = new Map<string, RegionSizes>();

  constructor(clock: Clock) {
    this.#shared = new Shared(clock, minutes(5));
  }

  /** @throws MachineError when the cloud cannot say and never could */
  async of(connection: AwsConnection, ec2: EC2Client, signal: AbortSignal): Promise<RegionSizes> {
    const key = connectionKey(connection);
    return this.#shared.get(key, async () => this.#read(key, connection.region, ec2), signal);
  }

  async #read(key: string, region: string, ec2: EC2Client): Promise<RegionSizes> {
    try {
      const [types, soldIn] = await Promise.all([readTypes(ec2), readOfferings(ec2)]);
      const sizes = { types, soldIn };
      this.#lastGood.set(key, sizes);
      return sizes;
    } catch (error) {
      const known = this.#lastGood.get(key);
      if (known) return known;
      throw toMachineError(error, `Reading the instance types of ${region}`);
    }
  }
}

async function readTypes(ec2: EC2Client): Promise<MachineType[]> {
  const types: MachineType[] = [];
  for await (const page of paginateDescribeInstanceTypes({ client: ec2, pageSize: 100 }, {})) {
    types.push(...(page.InstanceTypes ?? []).flatMap((info) => machineTypeOf(info) ?? []));
  }
  return types;
}

async function readOfferings(ec2: EC2Client): Promise<Map<string, Set<string>>> {
  const soldIn = new Map<string, Set<string>>();
  const pages = paginateDescribeInstanceTypeOfferings(
    { client: ec2, pageSize: 1000 },
    { LocationType: 'availability-zone' },
  );
  for await (const page of pages) {
    for (const { Location = '', InstanceType = '' } of page.InstanceTypeOfferings ?? []) {
      soldIn.set(Location, (soldIn.get(Location) ?? new Set()).add(InstanceType));
    }
  }
  return soldIn;
}

/**
 * The size as we see it; undefined for one that cannot run guests or is not sold on demand.
 *
 * Whether a virtual size has nested virtualisation is read from the feature list, never from its family's name: the
 * list of families grows.
 */
export function machineTypeOf(info: InstanceTypeInfo): MachineType | undefined {
  const { InstanceType: name = '', BareMetal: metal = false } = info;
  const { nested, architecture } = processorOf(info);
  const size = sizeOf(info);
  const usable = (metal || nested) && isOnDemand(info);
  if (!usable || !architecture || !size) return undefined;
  return { name, family: familyOf(name), ...size, architecture, metal, nested: nested && !metal };
}

function processorOf({ ProcessorInfo = {} }: InstanceTypeInfo) {
  const { SupportedFeatures: features = [], SupportedArchitectures: names } = ProcessorInfo;
  return {
    nested: features.includes('nested-virtualization'),
    architecture: architectureOf(names),
  };
}

function isOnDemand({ SupportedUsageClasses: classes }: InstanceTypeInfo): boolean {
  return classes === undefined || classes.includes('on-demand');
}

function sizeOf({ VCpuInfo, MemoryInfo }: InstanceTypeInfo) {
  const [vcpus, memoryMiB] = [VCpuInfo?.DefaultVCpus, MemoryInfo?.SizeInMiB];
  return vcpus && memoryMiB ? { vcpus, memoryMiB } : undefined;
}

/** Mac sizes have architectures of their own and are left out with all others that are neither. */
export function architectureOf(
  names: readonly (string | undefined)[] | undefined,
): MachineType['architecture'] | undefined {
  if (names?.includes('x86_64')) return 'amd64';
  return names?.includes('arm64') ? 'arm64' : undefined;
}
