/** What the spec of a Pod says about other Pods, of which the core types name only the outer fields. */
import type { PodSpec } from '#schemas/kubernetes/core.ts';
import type { LabelSelector } from '#schemas/kubernetes/meta.ts';

/** `PodAffinityTerm` */
export interface PodTerm {
  readonly topologyKey: string;
  readonly labelSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

/** `WeightedPodAffinityTerm` */
export interface WeightedPodTerm {
  readonly weight: number;
  readonly podAffinityTerm: PodTerm;
}

type Policy = 'Honor' | 'Ignore';

/** `TopologySpreadConstraint` */
export interface Spread {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: Policy;
  readonly nodeTaintsPolicy?: Policy;
  readonly matchLabelKeys?: readonly string[];
}

/** Rules between Pods: those that must hold, and those that a Pod would like to hold, heaviest first. */
export interface PodRules {
  readonly affinity: readonly PodTerm[];
  readonly antiAffinity: readonly PodTerm[];
  readonly spread: readonly Spread[];
  readonly preferredAffinity: readonly PodTerm[];
  readonly preferredAntiAffinity: readonly PodTerm[];
  readonly preferredSpread: readonly Spread[];
}

/** Most Pods have none. */
export const noRules: PodRules = {
  affinity: [],
  antiAffinity: [],
  spread: [],
  preferredAffinity: [],
  preferredAntiAffinity: [],
  preferredSpread: [],
};

export function rulesOf({ affinity, topologySpreadConstraints = [] }: PodSpec): PodRules {
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  if (!podAffinity && !podAntiAffinity && topologySpreadConstraints.length === 0) return noRules;
  const spreads = topologySpreadConstraints as unknown as readonly Spread[];
  return {
    affinity: requiredIn(podAffinity),
    antiAffinity: requiredIn(podAntiAffinity),
    spread: spreads.filter(isHard),
    preferredAffinity: preferredIn(podAffinity),
    preferredAntiAffinity: preferredIn(podAntiAffinity),
    preferredSpread: spreads.filter((spread) => !isHard(spread)),
  };
}

/** What the API server fills in when nothing is said. */
export function isHard({ whenUnsatisfiable }: Spread): boolean {
  return whenUnsatisfiable !== 'ScheduleAnyway';
}

/** Every rule there is, wanted or required. */
export function allTerms(rules: PodRules): readonly (PodTerm | Spread)[] {
  return rules === noRules ? [] : (Object.values(rules).flat() as (PodTerm | Spread)[]);
}

export function requiredIn(rules: Readonly<Record<string, unknown>> | undefined): PodTerm[] {
  const terms = rules?.['requiredDuringSchedulingIgnoredDuringExecution'];
  return Array.isArray(terms) ? (terms as PodTerm[]) : [];
}

/** Equal weights keep their order. */
function preferredIn(rules: Readonly<Record<string, unknown>> | undefined): PodTerm[] {
  const terms = rules?.['preferredDuringSchedulingIgnoredDuringExecution'];
  if (!Array.isArray(terms)) return [];
  return (terms as WeightedPodTerm[])
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ podAffinityTerm }) => podAffinityTerm);
}
