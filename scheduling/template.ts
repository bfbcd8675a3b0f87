/** What a pool makes: its fixed labels, taints, open requirements and sizes, prepared once for a pass. */
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { DaemonSet, Taint } from '#schemas/kubernetes/core.ts';
import { labels, onDemand, taints } from '#schemas/names.ts';

import { minus, toAmounts, type Amounts } from './amounts.ts';
import { daemonOverhead } from './daemon-overhead.ts';
import { fromLabels, fromSelector, intersect, type Requirements } from './requirements.ts';
import type { PoolInSight } from './solver.ts';

/** An instance type as one pool's nodes have it. */
export interface Size {
  readonly type: InstanceType;
  readonly capacity: Amounts;
  /** What DaemonSets' Pods will take of it. */
  readonly daemons: Amounts;
  /** Capacity less daemons. */
  readonly usable: Amounts;
}

export interface Template {
  readonly name: string;
  readonly inSight: PoolInSight;
  readonly taints: readonly Taint[];
  /** Labels of every node, whatever its size. */
  readonly fixed: Readonly<Record<string, string>>;
  /** All that is known of labels before a size is chosen, fixed ones included. */
  readonly offered: Requirements;
  readonly sizes: readonly Size[];
  /** A fixed label that the pool's own requirements exclude: it can never make a node. */
  readonly contradiction: string | undefined;
  /** Limits less use; what this pass plans is taken off. */
  remaining: Amounts;
}

/** In the order in which pools are asked: weight, heaviest first, then name, Z to A, as upstream has it. */
export function templatesOf(
  pools: readonly PoolInSight[],
  daemonSets: readonly DaemonSet[],
): Template[] {
  return pools
    .map((pool) => ({ weight: pool.pool.spec.weight ?? 0, template: templateOf(pool, daemonSets) }))
    .toSorted((a, b) => b.weight - a.weight || (a.template.name < b.template.name ? 1 : -1))
    .map(({ template }) => template);
}

function templateOf(inSight: PoolInSight, daemonSets: readonly DaemonSet[]): Template {
  const { pool } = inSight;
  const name = pool.metadata?.name ?? '';
  const { metadata, spec } = pool.spec.template;
  const own = { [labels.nodePool]: name, [labels.capacityType]: onDemand };
  const fixed = { ...metadata?.labels, ...inSight.labels, ...own };
  const required = fromSelector(spec.requirements);
  const offered = intersect(required, fromLabels(fixed));
  const allTaints = [taints.kraftlet, ...(spec.taints ?? [])];
  return {
    name,
    inSight,
    taints: allTaints,
    fixed,
    offered,
    sizes: inSight.instanceTypes.map((type) => {
      const capacity = toAmounts(type.capacity);
      const node = intersect(offered, fromLabels(type.labels));
      const daemons = daemonOverhead(daemonSets, node, allTaints);
      return { type, capacity, daemons, usable: minus(capacity, daemons) };
    }),
    contradiction: Object.keys(fixed).find((key) => required.has(key) && offered.get(key)?.isEmpty),
    remaining: toAmounts(inSight.remaining),
  };
}
