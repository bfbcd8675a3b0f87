import type { Plan, PoolInSight } from '#scheduling/solver.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';
import { addResources, subtractResources } from '#schemas/quantity/resources.ts';

import type { LimitState } from './limit-states.ts';

type LimitsNow = readonly (readonly [Live<NodePool>, LimitState | undefined])[];

/**
 * For each pool, the limit that it is at: one that kept a Pod of this pass from a machine, or one with nothing left.
 * What this pass launches counts as used.
 */
export function limitsNow(pools: readonly PoolInSight[], plan: Plan): LimitsNow {
  const refused = refusedBy(plan);
  return pools.map((inSight) => {
    const pool = inSight.pool as Live<NodePool>;
    const { name } = pool.metadata;
    const left = subtractResources(inSight.remaining, plannedFor(name, plan));
    const resource = refused.get(name) ?? spentOf(left, inSight);
    const limit = resource === undefined ? undefined : pool.spec.limits?.[resource];
    if (resource === undefined || limit === undefined) return [pool, undefined];
    const use = Quantity.parse(limit).sub(Quantity.parse(left[resource] ?? '0'));
    return [pool, { resource, limit, use: use.toString() }];
  });
}

function refusedBy({ unschedulable }: Plan): Map<string, string> {
  const refused = new Map<string, string>();
  for (const { pool, reason, resource } of [...unschedulable.values()].flat()) {
    if (reason === 'Limit' && resource !== undefined) refused.set(pool, resource);
  }
  return refused;
}

function plannedFor(pool: string, { claims }: Plan): ResourceList {
  const own = claims.filter(({ nodePool }) => nodePool === pool);
  return addResources(
    ...own.map(({ instanceTypes }) => ({ ...instanceTypes[0]?.capacity, nodes: '1' })),
  );
}

/** Only what has a limit can be spent. */
function spentOf(left: ResourceList, { remaining }: PoolInSight): string | undefined {
  return Object.keys(remaining).find(
    (resource) => Quantity.parse(left[resource] ?? '0').compareTo(Quantity.zero) <= 0,
  );
}
