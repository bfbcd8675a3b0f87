/**
 * What a Pod asks of a node's labels, and what a pool offers.
 *
 * Source: Karpenter v1.15, pkg/scheduling/requirements.go; docs of node affinity for what kube-scheduler does.
 */
import type { Requirement } from '#schemas/karpenter/types.ts';
import type { NodeSelectorRequirement } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import { ValueSet } from './value-set.ts';

/** By label key; a key that is not there is not restricted. */
export type Requirements = ReadonlyMap<string, ValueSet>;

/** Keys that a machine will have whether or not its pool names them: an instance type or its offering decides. */
export const wellKnown: ReadonlySet<string> = new Set([
  labels.nodePool,
  labels.capacityType,
  labels.zone,
  labels.region,
  labels.instanceType,
  labels.arch,
  labels.os,
  labels.instanceFamily,
  labels.instanceVcpus,
  labels.instanceMemory,
  labels.nestedVirtualization,
]);

/** Old names that Kubernetes still accepts on Pods. */
const renamed = new Map<string, string>([
  ['failure-domain.beta.kubernetes.io/zone', labels.zone],
  ['failure-domain.beta.kubernetes.io/region', labels.region],
  ['beta.kubernetes.io/arch', labels.arch],
  ['beta.kubernetes.io/os', labels.os],
  ['beta.kubernetes.io/instance-type', labels.instanceType],
]);

/** The same values by their old names. kube-scheduler knows nothing of these, so a Node has to have both. */
export function byOldNames(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(
    [...renamed].flatMap(([old, name]) =>
      Object.hasOwn(given, name) ? [[old, given[name]!]] : [],
    ),
  );
}

/** All of the list must hold, so entries with one key narrow each other. */
export function fromSelector(
  list: readonly (Requirement | NodeSelectorRequirement)[],
): Requirements {
  const result = new Map<string, ValueSet>();
  for (const { key, ...requirement } of list) {
    narrow(result, renamed.get(key) ?? key, ValueSet.of(requirement));
  }
  return result;
}

export function fromLabels(given: Readonly<Record<string, string>> = {}): Requirements {
  return fromSelector(
    Object.entries(given).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
  );
}

/** Both must hold. */
export function intersect(...all: readonly Requirements[]): Requirements {
  const result = new Map<string, ValueSet>();
  for (const requirements of all) {
    for (const [key, set] of requirements) narrow(result, key, set);
  }
  return result;
}

/**
 * The first key on which `asked` cannot be had from `offered`, or undefined when all can.
 *
 * A well-known key that is not offered is open. Any other key must be offered, except where absence is fine.
 */
export function conflictOf(offered: Requirements, asked: Requirements): string | undefined {
  for (const [key, set] of asked) {
    if (!isCompatible(offered.get(key), set, wellKnown.has(key))) return key;
  }
  return undefined;
}

/** Whether a node with exactly these labels satisfies them, as kube-scheduler judges. */
export function matchesLabels(
  asked: Requirements,
  given: Readonly<Record<string, string>>,
): boolean {
  return [...asked].every(([key, set]) => {
    const value = Object.hasOwn(given, key) ? given[key] : undefined;
    return value === undefined ? set.allowsAbsence : set.has(value);
  });
}

/** Whether every value that `offered` leaves open satisfies `asked`; a key that is not offered is absent. */
export function isCertain(offered: Requirements, asked: Requirements): boolean {
  return [...asked].every(([key, set]) => {
    const open = offered.get(key);
    if (!open || open.isEmpty) return set.allowsAbsence;
    return open.isWithin(set) && (set.allowsAbsence || !open.allowsAbsence);
  });
}

/** In the order of keys, so that the same requirements always read the same. */
export function toSelector(requirements: Requirements): Requirement[] {
  return [...requirements]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, set]) => set.toRequirements(key));
}

function isCompatible(offered: ValueSet | undefined, asked: ValueSet, isOpen: boolean): boolean {
  if (!offered) return isOpen ? !asked.isEmpty || asked.allowsAbsence : asked.allowsAbsence;
  return !offered.intersect(asked).isEmpty || (offered.allowsAbsence && asked.allowsAbsence);
}

function narrow(result: Map<string, ValueSet>, key: string, set: ValueSet): void {
  const before = result.get(key);
  result.set(key, before ? before.intersect(set) : set);
}
