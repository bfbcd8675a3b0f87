/** What the solver is told of a case, as it stands in the cluster. */
import { boundPodRequests } from '#scheduling/pod-requests.ts';
import type { BoundPod, NodeInSight, PoolInSight, Problem } from '#scheduling/solver.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import { addResources, subtractResources } from '#schemas/quantity/resources.ts';

import { isBound } from './cluster/cluster.ts';
import type { Promised } from './cluster/node-objects.ts';

/** A case with names that no other has, so that nothing is taken for something that was there before. */
export function named(problem: Problem, prefix: string): Problem {
  const rename = (name: string): string => `${prefix}-${name}`;
  const podOf = (pod: Pod): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, name: rename(pod.metadata?.name ?? '') },
  });
  return {
    ...problem,
    pods: problem.pods.map(podOf),
    nodes: problem.nodes.map((node) => ({ ...node, name: rename(node.name) })),
    closed: (problem.closed ?? []).map((node) => ({ ...node, name: rename(node.name) })),
    bound: (problem.bound ?? []).map(({ pod, on }) => ({ pod: podOf(pod), on: rename(on) })),
  };
}

/** How things stand. */
export interface Standing {
  /** All Pods, as the API server has them. */
  readonly pods: readonly Pod[];
  /** Nodes that were made of plans, by the pool they were made of. */
  readonly made: readonly (Promised & { readonly nodePool: string })[];
  /** Claims that have arrived. */
  readonly arrived: ReadonlySet<string>;
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

export function problemNow(problem: Problem, standing: Standing): Problem {
  const { pods, made, namespaces } = standing;
  const bound = pods.flatMap((pod): BoundPod[] =>
    isBound(pod) ? [{ pod, on: pod.spec?.nodeName ?? '' }] : [],
  );
  const there = problem.nodes.map((node) =>
    standing.arrived.has(node.name) ? ({ ...node, kind: 'node' } as const) : node,
  );
  const grown = made.map((node): NodeInSight => ({ ...node, kind: 'node', requested: {} }));
  return {
    ...problem,
    pods: pods.filter((pod) => !isBound(pod)),
    nodes: [...there, ...grown].map((node) => occupied(node, bound)),
    bound,
    pools: problem.pools.map((pool) => used(pool, made)),
    namespaces,
  };
}

function occupied(node: NodeInSight, bound: readonly BoundPod[]): NodeInSight {
  const own = bound.filter(({ on }) => on === node.name);
  return {
    ...node,
    requested: addResources(...own.map(({ pod }) => boundPodRequests(pod))),
    empty: own.length === 0,
  };
}

/** Limits less what its machines have taken. */
function used(pool: PoolInSight, made: Standing['made']): PoolInSight {
  const own = made.filter(({ nodePool }) => nodePool === pool.pool.metadata?.name);
  const taken = addResources(...own.map(({ allocatable }) => ({ ...allocatable, nodes: '1' })));
  const rest = subtractResources(pool.remaining, taken);
  return {
    ...pool,
    remaining: Object.fromEntries(
      Object.keys(pool.remaining).map((name) => [name, rest[name] ?? '0']),
    ),
  };
}
