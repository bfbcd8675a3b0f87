/**
 * What a Node of a machine advertises. Only Kraftlet writes a Node's capacity, and it copies the quotas of its
 * user on the platform; so the quotas computed here are rendered into user data and, read back, are the capacity.
 * docs/adr/0002-machine-capacity.md gives the reasons.
 */
import type { ResourceList } from '../kubernetes/meta.ts';
import type { PlatformSpec } from '../nodeclass/types.ts';
import { Quantity } from '../quantity/quantity.ts';
import type { MachineType, PlatformQuotas } from './instance-type.ts';

/** What the platform needs for itself where a node class does not say. */
export const defaultOverhead = { vcpus: 2, memory: '4Gi' } as const;
/** One network device each, and the platform makes 1000 of them by default. */
export const defaultInstances = 1000;

const BYTES_PER_MIB = 1_048_576n;
const percentage = /^(?<percent>\d{1,4})%$/;

/**
 * The quotas of the Kraftlet user on one machine: the machine less overhead, multiplied by a percentage or cut to
 * an absolute value.
 *
 * @returns undefined when the overhead leaves less than one vCPU or one MiB: the size is too small for this class
 * @throws InvalidQuantity for a spec that no schema has checked
 */
export function quotasFor(
  machine: MachineType,
  platform: PlatformSpec | undefined,
): PlatformQuotas | undefined {
  const overhead = { ...defaultOverhead, ...platform?.overhead };
  const caps = { volumeStorage: '0', instances: defaultInstances, ...platform?.capacity };
  const vcpus = limited(machine.vcpus - overhead.vcpus, caps.vcpus, wholeUnits);
  const memoryMiB = limited(
    machine.memoryMiB - roundedUpMiB(overhead.memory),
    caps.memory,
    wholeMiB,
  );
  if (vcpus < 1 || memoryMiB < 1) return undefined;
  return {
    vcpus,
    memoryMiB,
    volumeStorageMiB: wholeMiB(caps.volumeStorage),
    instances: caps.instances,
  };
}

/** The capacity of the Node in front of these quotas, spelled as Kraftlet spells it. */
export function capacityOf(
  quotas: PlatformQuotas,
  platform: PlatformSpec | undefined,
): ResourceList {
  const capacity: ResourceList = {
    cpu: String(quotas.vcpus),
    memory: `${quotas.memoryMiB}Mi`,
    pods: String(quotas.instances),
  };
  if (platform?.advertiseStorage) capacity['ephemeral-storage'] = `${quotas.volumeStorageMiB}Mi`;
  return capacity;
}

/** `400%` of the base, or the smaller of base and an absolute value: nobody promises by accident what a machine lacks. */
function limited(
  base: number,
  limit: string | number | undefined,
  parse: (text: string | number) => number,
): number {
  if (limit === undefined) return base;
  const percent = percentage.exec(String(limit))?.groups?.['percent'];
  if (percent === undefined) return Math.min(base, parse(limit));
  return Math.floor((base * Number(percent)) / 100);
}

/** Whole vCPUs, rounded down: a limit is never exceeded by rounding. */
function wholeUnits(value: string | number): number {
  return Number(Quantity.parse(value).toMilli() / 1000n);
}

function wholeMiB(value: string | number): number {
  return Number(Quantity.parse(value).toInteger() / BYTES_PER_MIB);
}

/** What the platform takes is rounded up, so that what is left really is there. */
function roundedUpMiB(value: string): number {
  return Number((Quantity.parse(value).toInteger() + BYTES_PER_MIB - 1n) / BYTES_PER_MIB);
}
