import { fromLabels, fromSelector, intersect, matchesLabels } from '#scheduling/requirements.ts';
import type { Pod, PodDisruptionBudget } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import type { Caches } from '../../caches.ts';

/** Names of the PodDisruptionBudgets that select a Pod; the API server does not say which one holds it. */
export function budgetsOf(
  { podDisruptionBudgets }: Pick<Caches, 'podDisruptionBudgets'>,
  pod: Live<Pod>,
): string[] {
  return podDisruptionBudgets
    .list()
    .filter((budget) => selects(budget, pod))
    .map(({ metadata }) => metadata.name)
    .toSorted();
}

/** One without a selector selects nothing, one with an empty selector all Pods of its namespace. */
function selects({ metadata, spec }: PodDisruptionBudget, pod: Live<Pod>): boolean {
  if (metadata?.namespace !== pod.metadata.namespace || !spec?.selector) return false;
  const { matchLabels, matchExpressions = [] } = spec.selector;
  const asked = intersect(fromLabels(matchLabels), fromSelector(matchExpressions));
  return matchesLabels(asked, pod.metadata.labels ?? {});
}
