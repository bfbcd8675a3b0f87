import { familyOf } from '#schemas/instances/cloud.ts';
import type { MachineType } from '#schemas/instances/instance-type.ts';
import type { GcpSpec } from '#schemas/nodeclass/types.ts';
import { type Clock, minutes } from '#schemas/time/clock.ts';

import { ListIncomplete } from '../../errors.ts';
import type { RegionSizes } from '../cloud-facts.ts';
import { Shared } from '../shared.ts';
import type { ComputeApi } from './api.ts';
import { failed } from './errors.ts';
import { isForMemory, isMetal, needsHyperdisk, nestedFamilies } from './nested.ts';
import type { GceMachineType } from './resources.ts';

/**
 * Sizes by zone, asked for every five minutes at most. A zone that cannot say, or says nothing, sells what it sold last:
 * an outage must not look like a zone without machines. A launch has the last word.
 */
export class MachineTypes {
  readonly #api: ComputeApi;
  readonly #shared: Shared<readonly GceMachineType[]>;
  readonly #lastGood = new Map<string, readonly GceMachineType[]>();

  constructor(api: ComputeApi, clock: Clock) {
    this.#api = api;
    this.#shared = new Shared(clock, minutes(5));
  }

  /**
   * What these zones sell that can run guests of the class.
   *
   * @throws MachineError when a zone cannot say and never could
   */
  async of(gcp: GcpSpec, zones: readonly string[], signal: AbortSignal): Promise<RegionSizes> {
    const lists = await Promise.all(
      zones.map(async (zone) => {
        const sold = await this.#zone(gcp.project, zone, signal);
        return [zone, sold.flatMap((info) => machineTypeOf(info, gcp) ?? [])] as const;
      }),
    );
    const types = new Map(lists.flatMap(([, sold]) => sold.map((type) => [type.name, type])));
    const soldIn = lists.map(
      ([zone, sold]) => [zone, new Set(sold.map(({ name }) => name))] as const,
    );
    return {
      types: [...types.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      soldIn: new Map(soldIn),
    };
  }

  async #zone(
    project: string,
    zone: string,
    signal: AbortSignal,
  ): Promise<readonly GceMachineType[]> {
    const key = `${project} ${zone}`;
    return this.#shared.get(key, async () => this.#read(key, project, zone), signal);
  }

  async #read(key: string, project: string, zone: string): Promise<readonly GceMachineType[]> {
    try {
      // the shared call outlives any one caller
      const { signal } = new AbortController();
      const types = await this.#api.machineTypes(project, zone, signal);
      if (types.length === 0) {
        throw new ListIncomplete(
          `Google Cloud listed no machine types of ${zone}, and each has some`,
        );
      }
      this.#lastGood.set(key, types);
      return types;
    } catch (error) {
      const known = this.#lastGood.get(key);
      if (known) return known;
      throw failed(error, `Reading the machine types of ${zone}`);
    }
  }
}

/** The size as we see it; undefined for one that cannot run guests, is on its way out, or does not take the class's disks. */
export function machineTypeOf(info: GceMachineType, gcp: GcpSpec): MachineType | undefined {
  const { name = '' } = info;
  const architecture = architectureOf(info.architecture ?? 'X86_64');
  const metal = isMetal(name);
  const nested = architecture === 'amd64' && isNested(name, gcp);
  const size = sizeOf(info);
  const isUsable = (metal || nested) && !isOutgoing(info) && takesDisks(name, gcp);
  if (!isUsable || !architecture || !size) return undefined;
  return { name, family: familyOf('gcp', name), ...size, architecture, metal, nested };
}

function sizeOf({ guestCpus: vcpus, memoryMb: memoryMiB }: GceMachineType) {
  return vcpus && memoryMiB ? { vcpus, memoryMiB } : undefined;
}

function isNested(name: string, { nestedVirtualizationFamilies }: GcpSpec): boolean {
  const families = new Set(nestedVirtualizationFamilies ?? nestedFamilies);
  return !isMetal(name) && !isForMemory(name) && families.has(familyOf('gcp', name));
}

/** Undefined for one that is neither. */
export function architectureOf(name: string | undefined): MachineType['architecture'] | undefined {
  if (name === 'X86_64') return 'amd64';
  return name === 'ARM64' ? 'arm64' : undefined;
}

/** A deprecated size can still be had. One of a shared core has too little of it to hold a platform. */
function isOutgoing({ deprecated, isSharedCpu = false }: GceMachineType): boolean {
  return isSharedCpu || deprecated?.state === 'OBSOLETE' || deprecated?.state === 'DELETED';
}

/** Disks of a said kind fit all sizes or none of a family; those of no said kind take the kind of the size. */
function takesDisks(instanceType: string, { disks = [] }: GcpSpec): boolean {
  if (!needsHyperdisk(instanceType)) return true;
  return disks.every(({ type = 'hyperdisk-balanced' }) => type.startsWith('hyperdisk-'));
}
