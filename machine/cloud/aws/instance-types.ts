import {
  type EC2Client,
  type InstanceTypeInfo,
  paginateDescribeInstanceTypeOfferings,
  paginateDescribeInstanceTypes,
} from '@aws-sdk/client-ec2';

import { familyOf } from '#schemas/instances/cloud.ts';
import type { MachineType } from '#schemas/instances/instance-type.ts';
import { type Clock, minutes } from '#schemas/time/clock.ts';

import type { AwsConnection } from '../../aws/config.ts';
import { toMachineError } from '../../aws/errors.ts';
import { ListIncomplete, type MachineError } from '../../errors.ts';
import type { CloudFacts, RegionSizes } from '../cloud-facts.ts';
import { Shared } from '../shared.ts';
import { connectionKey } from './clients.ts';

/** Told when recorded facts stand in for an answer of the cloud, with why. */
export type OnStandIn = (why: MachineError) => void;

/**
 * Sizes by region, asked for every five minutes at most. When the cloud cannot say, the last good answer stands, and
 * where there was none the recorded facts do: an outage of Describe calls, an empty answer, or a role that lacks them,
 * must not look like a region without machines. A launch has the last word on what is sold.
 */
export class InstanceTypes {
  readonly #shared: Shared<RegionSizes>;
  readonly #facts: CloudFacts;
  readonly #onStandIn: OnStandIn;
  readonly #lastGood = new Map<string, RegionSizes>();

  constructor(options: { clock: Clock; facts: CloudFacts; onStandIn: OnStandIn }) {
    this.#shared = new Shared(options.clock, minutes(5));
    this.#facts = options.facts;
    this.#onStandIn = options.onStandIn;
  }

  /**
   * Zones by name as the cloud tells them, by id as they were recorded.
   *
   * @throws MachineError when the cloud cannot say and never could, of a region that nothing was recorded of
   */
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
      return known ?? this.#recorded(region, error);
    }
  }

  async #recorded(region: string, error: unknown): Promise<RegionSizes> {
    const why = toMachineError(error, `Reading the instance types of ${region}`);
    const sizes = await this.#facts.sizes('aws', region);
    if (!sizes) throw why;
    this.#onStandIn(why);
    return sizes;
  }
}

async function readTypes(ec2: EC2Client): Promise<MachineType[]> {
  const types: MachineType[] = [];
  let told = 0;
  const pages = paginateDescribeInstanceTypes({ client: ec2, pageSize: 100 }, {});
  for await (const { InstanceTypes: infos = [] } of pages) {
    told += infos.length;
    types.push(...infos.flatMap((info) => machineTypeOf(info) ?? []));
  }
  if (told === 0)
    throw new ListIncomplete('EC2 listed no instance types, and each region has some');
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
  if (soldIn.size === 0) {
    throw new ListIncomplete('EC2 listed no instance type as sold, and each region sells some');
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
  return {
    name,
    family: familyOf('aws', name),
    ...size,
    architecture,
    metal,
    nested: nested && !metal,
    ...(info.SupportedBootModes && { bootModes: info.SupportedBootModes }),
  };
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
