import type { Plan, PoolInSight } from '#scheduling/solver.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import type { Reservations } from '../reservations/reservations.ts';
import type { LimitState } from './limit-states.ts';

/**
 * For each pool, the limit that it is at: one that kept a Pod of this pass from a machine, or one with nothing left.
 */
export function limitsNow(
  pools: readonly PoolInSight[],
  plan: Plan,
  reservations: Reservations,
): (readonly [Live<NodePool>, LimitState | undefined])[] {
  const refused = new Map<string, string>();
  for (const refusals of plan.unschedulable.values()) {
    for (const { pool, reason, resource } of refusals) {
      if (reason === 'Limit' && resource !== undefined) refused.set(pool, resource);
    }
  }
  return pools.map(({ pool, remaining }) => {
    const name = pool.metadata?.name ?? '';
    const spent = Object.keys(remaining).find(
      (resource) => Quantity.parse(remaining[resource] ?? '0').compareTo(Quantity.zero) <= 0,
    );
    const resource = refused.get(name) ?? spent;
    const limit = resource === undefined ? undefined : pool.spec.limits?.[resource];
    if (resource === undefined || limit === undefined) return [pool as Live<NodePool>, undefined];
    const use = reservations.used(name)[resource] ?? '0';
    return [pool as Live<NodePool>, { resource, limit, use }];
  });
}
