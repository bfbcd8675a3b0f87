import type { Pod } from '#schemas/kubernetes/core.ts';
import type { LabelSelector } from '#schemas/kubernetes/meta.ts';

import type { Problem } from '../solver.ts';
import { allTerms, requiredIn, type PodTerm, type Spread } from '../topology/terms.ts';
import type { PodForm } from './form.ts';

/** Labels of Pods that any rule looks at: other ones make no difference. */
export function labelKeys(
  { bound = [], defaultSpread }: Problem,
  forms: readonly PodForm[],
): string[] {
  const keys = [
    ...forms.flatMap(({ rules }) => allTerms(rules).flatMap(keysOf)),
    ...bound.flatMap(({ pod }) => keepingTerms(pod).flatMap(keysOf)),
    ...(defaultSpread?.constraints ?? []).flatMap(({ matchLabelKeys = [] }) => matchLabelKeys),
    ...[...(defaultSpread?.selectors.values() ?? [])].flat().flatMap(keysIn),
  ];
  return [...new Set(keys)].toSorted();
}

/** Rules by which a Pod keeps others away. */
export function keepingTerms({ spec }: Pod): PodTerm[] {
  return requiredIn(spec?.affinity?.podAntiAffinity);
}

function keysOf({
  labelSelector,
  matchLabelKeys = [],
  ...rest
}: PodTerm | Spread): readonly string[] {
  const mismatched = 'mismatchLabelKeys' in rest ? (rest.mismatchLabelKeys ?? []) : [];
  return [...keysIn(labelSelector), ...matchLabelKeys, ...mismatched];
}

function keysIn({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string[] {
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
}
