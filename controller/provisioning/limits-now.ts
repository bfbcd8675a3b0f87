import type { Plan, PoolInSight } from '#scheduling/solver.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import { amountOf, usedBy, type Bound, type Entry } from '../reservations/ledger.ts';
import { leftAfter, type Room } from '../reservations/room.ts';
import type { LimitState } from './limit-states.ts';
import type { Slices } from './slices.ts';

export type LimitsNow = readonly (readonly [Live<NodePool>, LimitState | undefined])[];

/**
 * For each pool, the limit that it is at: one that kept a Pod of this pass from a machine, or one with nothing left.
 * What this pass launches counts as used.
 *
 * @param roomOf  what the limits left to a pool before this pass
 */
export async function limitsNow(
  pools: readonly PoolInSight[],
  plan: Plan,
  roomOf: (pool: string) => readonly Room[],
  slices: Slices,
): Promise<LimitsNow> {
  const refused = refusedBy(plan);
  const planned = plannedBy(plan, pools);
  return slices.map(pools, (inSight) => {
    const pool = inSight.pool as Live<NodePool>;
    const { name } = pool.metadata;
    const states = roomOf(name).map(({ bound, left }) => {
      const coming = planned.filter((entry) => isUnder(bound, entry, name));
      return stateOf(bound, left, usedBy(coming));
    });
    const resource = refused.get(name);
    const found = states.find((state) => (resource ? state.resource === resource : isSpent(state)));
    return [pool, found];
  });
}

function refusedBy({ unschedulable }: Plan): Map<string, string> {
  const refused = new Map<string, string>();
  for (const { pool, reason, resource } of [...unschedulable.values()].flat()) {
    if (reason === 'Limit' && resource !== undefined) refused.set(pool, resource);
  }
  return refused;
}

/** As the ledgers will have them, with the cheapest size of each. */
function plannedBy({ claims }: Plan, pools: readonly PoolInSight[]): Entry[] {
  const classes = new Map(
    pools.map(({ pool }) => [pool.metadata?.name, pool.spec.template.spec.nodeClassRef.name]),
  );
  return claims.map(({ nodePool, instanceTypes }) => ({
    claim: '',
    resources: { ...instanceTypes[0]?.capacity, nodes: '1' },
    pool: nodePool,
    nodeClass: classes.get(nodePool) ?? '',
  }));
}

/** A limit without `covers` is the pool's alone. */
function isUnder({ covers }: Bound, entry: Entry, pool: string): boolean {
  return covers ? covers(entry) : entry.pool === pool;
}

function stateOf(
  { resource, amount, policy }: Bound,
  left: string,
  planned: ResourceList,
): LimitState {
  const before = Quantity.parse(amount).sub(Quantity.parse(left));
  const rest = leftAfter(amount, before, amountOf(planned, resource));
  const use = Quantity.parse(amount).sub(rest).toString();
  return { resource, limit: amount, use, ...(policy !== undefined && { policy }) };
}

function isSpent({ limit, use }: LimitState): boolean {
  return Quantity.parse(use).compareTo(Quantity.parse(limit)) >= 0;
}
