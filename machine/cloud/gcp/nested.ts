import { familyOf } from '#schemas/instances/cloud.ts';

/**
 * Families whose virtual machines can run KVM guests. The API does not tell, so this is the list of the documentation:
 * Intel processors from Haswell on, neither E2 nor the families for memory and accelerators. A node class may give a list
 * of its own; what a zone refuses after all is found out by the first launch.
 *
 * Source: Compute Engine docs, "About nested virtualization", restrictions; the day is that of
 * schemas/instances/data/gcp.jsonl, whose sizes this agrees with (machine-types.test.ts).
 */
export const nestedFamilies: ReadonlySet<string> = new Set([
  'n1',
  'n2',
  'n4',
  'c2',
  'c3',
  'c4',
  'z3',
]);

/** Sizes for memory that are named after N1, and have no nested virtualisation as none of their kind does. */
export function isForMemory(instanceType: string): boolean {
  return /^n1-(megamem|ultramem)-/.test(instanceType);
}

/** A size without a hypervisor of Google's below it: it has the processor's virtualisation to itself. */
export function isMetal(instanceType: string): boolean {
  return instanceType.endsWith('-metal');
}

/** N1 is sold on processors from before Haswell too, which lack what guests need. */
export function processorFor(instanceType: string): string | undefined {
  return familyOf('gcp', instanceType) === 'n1' ? 'Intel Haswell' : undefined;
}

/** Families, and all bare metal, that boot from Hyperdisk alone. Source: Compute Engine docs, machine series, disk types. */
const hyperdiskFamilies: ReadonlySet<string> = new Set(['n4', 'c4', 'c4a', 'c4d', 'n4a', 'n4d']);

export function needsHyperdisk(instanceType: string): boolean {
  return isMetal(instanceType) || hyperdiskFamilies.has(familyOf('gcp', instanceType));
}

/** A disk of no said kind is of the usual one that the size takes. */
export function usualDisk(instanceType: string): string {
  return needsHyperdisk(instanceType) ? 'hyperdisk-balanced' : 'pd-balanced';
}
