/** What all nodes of a pool have, before a size is chosen. */
import type { Taint } from '#schemas/kubernetes/core.ts';
import { labels, onDemand, taints } from '#schemas/names.ts';

import { fromLabels, fromSelector, intersect, type Requirements } from '../requirements.ts';
import type { PoolInSight } from '../solver.ts';

export interface PoolNodes {
  readonly taints: readonly Taint[];
  /** Labels of every node, whatever its size. */
  readonly fixed: Readonly<Record<string, string>>;
  /** All that is known of labels before a size is chosen, fixed ones included. */
  readonly offered: Requirements;
  /** A fixed label that the pool's own requirements exclude: it can never make a node. */
  readonly contradiction: string | undefined;
}

/** Every node carries the vendor's taint, and every machine is on demand. */
export function nodesOf({ pool, labels: given }: PoolInSight): PoolNodes {
  const { metadata, spec } = pool.spec.template;
  const own = { [labels.nodePool]: pool.metadata?.name ?? '', [labels.capacityType]: onDemand };
  const fixed = { ...metadata?.labels, ...given, ...own };
  const required = fromSelector(spec.requirements);
  const offered = intersect(required, fromLabels(fixed));
  return {
    taints: [taints.kraftlet, ...(spec.taints ?? [])],
    fixed,
    offered,
    contradiction: Object.keys(fixed).find((key) => required.has(key) && offered.get(key)?.isEmpty),
  };
}
