import type { Pod, PodDisruptionBudget } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import type { Caches } from '../../caches.ts';
import { selects } from '../../nodeclaim/termination/budgets.ts';

/**
 * Which Pods no eviction will ever move as budgets stand: a machine for them would wait in vain. A budget that only
 * allows none just now will allow one soon.
 *
 * Source: Karpenter v1.15, pkg/utils/pdb/pdb.go. Differs in that Pods which are not ready are held too where a budget
 * says `AlwaysAllow`: whether they are is not kept in the cache.
 */
export class Budgets {
  readonly #byNamespace: ReadonlyMap<string | undefined, readonly Live<PodDisruptionBudget>[]>;

  constructor({ podDisruptionBudgets }: Pick<Caches, 'podDisruptionBudgets'>) {
    const all = podDisruptionBudgets.list();
    this.#byNamespace = Map.groupBy(all, ({ metadata }) => metadata.namespace);
  }

  /** The API server evicts no Pod that several budgets select. */
  hold(pod: Live<Pod>): boolean {
    const all = this.#byNamespace.get(pod.metadata.namespace) ?? [];
    const own = all.filter((budget) => selects(budget, pod));
    return own.length > 1 || own.some(allowsNone);
  }
}

function allowsNone({ spec }: PodDisruptionBudget): boolean {
  const { maxUnavailable, minAvailable } = spec ?? {};
  return maxUnavailable === 0 || maxUnavailable === '0%' || minAvailable === '100%';
}
