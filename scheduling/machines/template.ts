/** What a pool makes: its nodes' labels and taints, and its sizes in numbers, prepared once for a pass. */
import type { DaemonSet, Taint } from '#schemas/kubernetes/core.ts';

import { Slots } from '../slots.ts';
import type { PoolInSight } from '../solver.ts';
import { LabelState } from './label-state.ts';
import { nodesOf, type PoolNodes } from './offering.ts';
import type { Size } from './size.ts';
import { sizesOf } from './sizes.ts';

export interface Template extends Pick<PoolNodes, 'fixed' | 'contradiction'> {
  readonly name: string;
  readonly inSight: PoolInSight;
  readonly taints: readonly Taint[];
  readonly sizes: readonly Size[];
  /** Labels before any Pod has asked for anything. */
  readonly start: LabelState;
  /** Resources that are limited, `nodes` among them. */
  readonly limited: Slots;
  /** Limits less use, by resource of {@link limited}; what this pass plans is taken off. */
  readonly remaining: Float64Array;
}

/** In the order in which pools are asked: weight, heaviest first, then name, Z to A, as upstream has it. */
export function templatesOf(
  pools: readonly PoolInSight[],
  daemonSets: readonly DaemonSet[],
  slots: Slots,
): Template[] {
  return pools
    .map((pool) => ({
      weight: pool.pool.spec.weight ?? 0,
      template: templateOf(pool, daemonSets, slots),
    }))
    .toSorted((a, b) => b.weight - a.weight || (a.template.name < b.template.name ? 1 : -1))
    .map(({ template }) => template);
}

function templateOf(
  inSight: PoolInSight,
  daemonSets: readonly DaemonSet[],
  slots: Slots,
): Template {
  const name = inSight.pool.metadata?.name ?? '';
  const nodes = nodesOf(inSight);
  const limited = new Slots(Object.keys(inSight.remaining).toSorted());
  const types = inSight.instanceTypes;
  const { sizes, index } = sizesOf(name, { types, nodes, daemonSets, slots, limited });
  const source = { taints: nodes.taints, index, known: new Map() };
  return {
    name,
    inSight,
    ...nodes,
    sizes,
    start: LabelState.of(source, nodes.offered),
    limited,
    remaining: limited.has(inSight.remaining),
  };
}
