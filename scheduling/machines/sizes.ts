import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { DaemonSet } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';

import { labelsInTheEnd } from '../daemon-overhead.ts';
import { idOf } from '../labels/asked.ts';
import { fromLabels, intersect } from '../requirements.ts';
import { less, type Slots } from '../slots.ts';
import { daemonsOf, noDaemons } from './daemons.ts';
import type { PoolNodes } from './offering.ts';
import { SizeIndex } from './size-index.ts';
import type { Size } from './size.ts';

/** What the sizes of a pool are made from. */
interface Making {
  readonly types: readonly InstanceType[];
  readonly nodes: PoolNodes;
  readonly daemonSets: readonly DaemonSet[];
  readonly slots: Slots;
  readonly limited: Slots;
}

/** A pool's sizes in numbers. */
export interface Sizes {
  readonly sizes: readonly Size[];
  readonly index: SizeIndex;
}

interface Made extends Sizes {
  readonly id: string;
  readonly daemonSets: readonly DaemonSet[];
}

/** Pods that ask for ever new values would make an index grow for ever. */
const mostKept = 10_000;

/** Catalogs seldom change, and many passes use one: of each the last sizes of each pool are kept. */
const known = new WeakMap<readonly InstanceType[], Map<string, Made>>();

/**
 * The sizes of a pool; the same from pass to pass while nothing that they are made from has changed.
 *
 * @throws InvalidQuantity
 */
export function sizesOf(pool: string, making: Making): Sizes {
  const { types, daemonSets } = making;
  const byPool = known.get(types) ?? new Map<string, Made>();
  known.set(types, byPool);
  const id = textOf(making);
  const last = byPool.get(pool);
  const isLast = last?.id === id && isSame(last.daemonSets, daemonSets);
  if (isLast && last.index.kept < mostKept) return last;
  const sizes = isLast ? last.sizes : types.map((type, index) => sizeOf(type, index, making));
  const made = { id, daemonSets, sizes, index: new SizeIndex(sizes) };
  byPool.set(pool, made);
  return made;
}

/** Objects of the caches never change, so a DaemonSet that has changed is another object. */
function isSame(before: readonly DaemonSet[], now: readonly DaemonSet[]): boolean {
  return before.length === now.length && now.every((one, index) => one === before[index]);
}

function textOf({ nodes, slots, limited }: Making): string {
  return JSON.stringify([idOf(nodes.offered), nodes.taints, slots.names, limited.names]);
}

function sizeOf(
  type: InstanceType,
  index: number,
  { nodes, daemonSets, slots, limited }: Making,
): Size {
  const daemons =
    daemonSets.length === 0
      ? noDaemons
      : daemonsOf(
          daemonSets,
          intersect(nodes.offered, fromLabels({ ...type.labels, ...labelsInTheEnd })),
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
}

const oneNode: ResourceList = { nodes: '1' };
