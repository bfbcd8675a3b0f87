import type { InstanceType } from '#schemas/instances/instance-type.ts';
/** What a pool makes: its nodes' labels and taints, and its sizes in numbers, prepared once for a pass. */
import type { DaemonSet, Taint } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';

import { fromLabels, intersect } from '../requirements.ts';
import { Slots, type Amounts } from '../slots.ts';
import type { PoolInSight } from '../solver.ts';
import { daemonsOf, noDaemons } from './daemons.ts';
import { LabelState } from './label-state.ts';
import { nodesOf, type PoolNodes } from './offering.ts';
import { SizeIndex } from './size-index.ts';
import type { Size } from './size.ts';

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
  const nodes = nodesOf(inSight);
  const limited = new Slots(Object.keys(inSight.remaining));
  const sizeOf = (type: InstanceType, index: number): Size => {
    const daemons =
      daemonSets.length === 0
        ? noDaemons
        : daemonsOf(
            daemonSets,
            intersect(nodes.offered, fromLabels(type.labels)),
            nodes.taints,
            type.capacity,
          );
    const taken = slots.takes(daemons.requests);
    return {
      index,
      type,
      daemons: taken,
      usable: less(slots.has(type.capacity), taken),
      takes: limited.has({ ...type.capacity, ...oneNode }),
      ports: daemons.ports,
    };
  };
  const sizes = inSight.instanceTypes.map(sizeOf);
  const source = { taints: nodes.taints, index: new SizeIndex(sizes), known: new Map() };
  return {
    name: inSight.pool.metadata?.name ?? '',
    inSight,
    ...nodes,
    sizes,
    start: LabelState.of(source, nodes.offered),
    limited,
    remaining: limited.has(inSight.remaining),
  };
}

const oneNode: ResourceList = { nodes: '1' };

export function less(a: Amounts, b: Amounts): Amounts {
  return a.map((amount, slot) => amount - b[slot]!);
}
