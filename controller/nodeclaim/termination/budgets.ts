import {
  fromLabels,
  fromSelector,
  intersect,
  matchesLabels,
  type Requirements,
} from '#scheduling/requirements.ts';
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
export function selects(budget: PodDisruptionBudget, pod: Live<Pod>): boolean {
  if (budget.metadata?.namespace !== pod.metadata.namespace) return false;
  const asked = known.get(budget) ?? askedBy(budget);
  known.set(budget, asked);
  return asked !== 'nobody' && matchesLabels(asked, pod.metadata.labels ?? {});
}

/** Budgets as they are in the cache, where an object never changes. */
const known = new WeakMap<PodDisruptionBudget, Requirements | 'nobody'>();

function askedBy({ spec }: PodDisruptionBudget): Requirements | 'nobody' {
  if (!spec?.selector) return 'nobody';
  const { matchLabels, matchExpressions = [] } = spec.selector;
  return intersect(fromLabels(matchLabels), fromSelector(matchExpressions));
}
