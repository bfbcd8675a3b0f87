/**
 * What of a plan is still to be carried out. While it was made Pods were bound or deleted, pools changed and claims
 * ended; whatever did so has opened another batch window, so nothing has to be planned anew here. Limits are asked
 * once more by the reservation of each claim.
 */
import type { NodeInSight, Plan, PlannedClaim, PoolInSight } from '#scheduling/solver.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import type { Context } from '../context.ts';
import type { ClaimsInSight } from './claims-in-sight.ts';
import type { Slices } from './slices.ts';

export interface Now {
  readonly caches: Context['caches'];
  readonly claims: ClaimsInSight;
  /** Waits for a machine, and for none that is on its way. */
  readonly isWaiting: (pod: Live<Pod>) => boolean;
  readonly slices: Slices;
}

/** Claims with the Pods that still wait; without any of these, or from a pool that is another by now, none. */
export async function stillWanted(
  { claims }: Plan,
  pools: readonly PoolInSight[],
  now: Now,
): Promise<PlannedClaim[]> {
  const same = new Set(
    pools
      .map(({ pool }) => pool)
      .filter((pool) => isSame(pool, now))
      .map(({ metadata }) => metadata?.name),
  );
  const wanted: PlannedClaim[] = [];
  await now.slices.each(claims, (claim) => {
    const pods = same.has(claim.nodePool) ? claim.pods.filter((key) => isWaiting(key, now)) : [];
    if (pods.length > 0) wanted.push({ ...claim, pods });
  });
  return wanted;
}

/** Pods with room on a machine that is coming wait for it; those with room on an open Node are the scheduler's. */
export async function onTheWay(
  { nominations }: Plan,
  nodes: readonly NodeInSight[],
  now: Now,
): Promise<(readonly [pod: string, claimName: string])[]> {
  const coming = nodes.filter(({ kind, name }) => kind === 'claim' && isThere(name, now));
  const names = new Set(coming.map(({ name }) => name));
  const found: [string, string][] = [];
  await now.slices.each(nominations, ([pod, target]) => {
    if (names.has(target) && isWaiting(pod, now)) found.push([pod, target]);
  });
  return found;
}

/** Requirements, limits and readiness of the pool are what the plan was made from. */
function isSame({ metadata }: NodePool, { caches }: Now): boolean {
  const pool = caches.nodePools.get(metadata?.name ?? '');
  if (!pool || pool.metadata.deletionTimestamp !== undefined) return false;
  return pool.metadata.uid === metadata?.uid && pool.metadata.generation === metadata.generation;
}

function isWaiting(key: string, { caches, isWaiting: waits }: Now): boolean {
  const pod = caches.pods.get(key);
  return pod !== undefined && waits(pod);
}

function isThere(claimName: string, { claims }: Now): boolean {
  const claim = claims.get(claimName);
  return claim !== undefined && claim.metadata.deletionTimestamp === undefined;
}
