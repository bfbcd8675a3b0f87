import type { Plan, PlannedClaim, Problem } from '#scheduling/solver.ts';

import { bought, kindsOf } from '../cluster/node-objects.ts';

/** A node in sight, or a machine of a kind that can be had. */
export interface Place {
  /** USD per hour; nothing for what is there. */
  readonly price: number;
  /** Undefined for a node in sight. */
  readonly kind: PlannedClaim | undefined;
  /** Name of the node in sight. */
  readonly node: string;
  /** When its pool is asked; nodes come first. */
  readonly rank: number;
}

/** A place with the Pods (namespace/name) that an answer gives it. */
export interface Filled {
  readonly place: Place;
  readonly pods: readonly string[];
}

/** Where each Pod goes. A machine may be meant twice, a node only once. */
export type Answer = readonly Filled[];

export function placesOf({ nodes, pools }: Problem): Place[] {
  return [
    ...nodes.map(({ name }) => ({ price: 0, kind: undefined, node: name, rank: 0 })),
    ...inOrder(pools).flatMap((pool, index) =>
      kindsOf(pool).map((kind) => ({ price: bought(kind).price, kind, node: '', rank: index + 1 })),
    ),
  ];
}

/** By weight, then by name, Z to A. */
function inOrder(pools: Problem['pools']): Problem['pools'] {
  const weight = ({ pool }: Problem['pools'][number]): number => pool.spec.weight ?? 0;
  const name = ({ pool }: Problem['pools'][number]): string => pool.metadata?.name ?? '';
  return pools.toSorted((a, b) => weight(b) - weight(a) || (name(a) < name(b) ? 1 : -1));
}

export function planOf(answer: Answer): Plan {
  const claims = answer.flatMap(({ place, pods }) => (place.kind ? [{ ...place.kind, pods }] : []));
  const onNodes = answer.filter(({ place }) => !place.kind);
  return {
    claims,
    nominations: new Map(
      onNodes.flatMap(({ place, pods }) => pods.map((pod) => [pod, place.node] as const)),
    ),
    unschedulable: new Map(),
    zones: new Map(),
  };
}

/** USD per hour. */
export function costOf({ claims }: Plan): number {
  return claims.reduce((total, claim) => total + bought(claim).price, 0);
}

export function plannedIn({ claims, nominations }: Plan): string[] {
  return [...nominations.keys(), ...claims.flatMap(({ pods }) => pods)];
}

/** All orders of a few. */
export function orders(pods: readonly string[]): string[][] {
  if (pods.length < 2) return [[...pods]];
  return pods.flatMap((first) =>
    orders(pods.filter((pod) => pod !== first)).map((rest) => [first, ...rest]),
  );
}
