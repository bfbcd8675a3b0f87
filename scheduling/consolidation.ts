import { keyOf } from './pods/group.ts';
/** What would become of the Pods of some nodes if these were removed. */
import { priceOfClaim } from './price.ts';
import { solve } from './solve.ts';
import type { BoundPod, PlannedClaim, Problem, Refusal } from './solver.ts';

export interface Removal {
  /** Every Pod that had a place has one again, without the nodes. */
  readonly fits: boolean;
  /** Machines that would have to be made for it. */
  readonly claims: readonly PlannedClaim[];
  /** USD per hour of all of them; undefined when nobody knows the price of one. */
  readonly price: number | undefined;
  /** Pod (namespace/name) → the node or claim in sight that has room for it. */
  readonly moves: ReadonlyMap<string, string>;
  /** Pods of the removed nodes that find no place, and why. */
  readonly stranded: ReadonlyMap<string, readonly Refusal[]>;
}

/**
 * Solves the problem once more without the nodes and with their Pods. Pods that are pending anyway take part, since they
 * compete for the room, but whether they find any says nothing about the removal.
 *
 * The nodes that are removed give nothing back to the limits of their pools: they are there until their Pods have moved.
 *
 * @param names  of nodes in sight; they take no Pods, and theirs count nowhere
 * @param movable  Pods of these nodes that must find another place; those of DaemonSets and of the node go with it
 * @throws InvalidQuantity
 * Source: Karpenter v1.15, pkg/controllers/disruption/helpers.go (SimulateScheduling).
 */
export function simulateRemoval(
  problem: Problem,
  names: ReadonlySet<string>,
  movable: readonly BoundPod['pod'][],
): Removal {
  const keys = new Set(movable.map(keyOf));
  const { claims, nominations, unschedulable } = solve(without(problem, names, movable));
  const stranded = new Map([...unschedulable].filter(([key]) => keys.has(key)));
  const needed = claims.filter(({ pods }) => pods.some((key) => keys.has(key)));
  return {
    fits: stranded.size === 0,
    claims: needed,
    price: sum(needed.map(priceOfClaim)),
    moves: new Map([...nominations].filter(([key]) => keys.has(key))),
    stranded,
  };
}

/** A removed Node is one that takes no Pods; its domain stays one as long as it is there. */
function without(
  problem: Problem,
  names: ReadonlySet<string>,
  movable: readonly BoundPod['pod'][],
): Problem {
  const pods = [...problem.pods, ...movable.map(unbound)];
  const nodes = problem.nodes.filter(({ name }) => !names.has(name));
  const { bound } = problem;
  if (!bound) return { ...problem, pods, nodes };
  return { ...problem, pods, nodes, bound: bound.filter(({ on }) => !names.has(on)) };
}

function unbound(pod: BoundPod['pod']): BoundPod['pod'] {
  if (!pod.spec) return pod;
  const { nodeName: _, ...spec } = pod.spec;
  return { ...pod, spec };
}

function sum(prices: readonly (number | undefined)[]): number | undefined {
  let total = 0;
  for (const price of prices) {
    if (price === undefined) return undefined;
    total += price;
  }
  return total;
}
