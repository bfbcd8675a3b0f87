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
import type { PodsOfPass } from './pods-of-pass.ts';
import type { Slices } from './slices.ts';

export interface Now {
  readonly caches: Context['caches'];
  readonly claims: ClaimsInSight;
  readonly pods: PodsOfPass;
  readonly slices: Slices;
}

/** A machine to be claimed, and the Pods that it is still for, as they are now. */
export interface WantedClaim {
  readonly planned: PlannedClaim;
  /** They wait for it from now on. */
  readonly waiting: readonly Live<Pod>[];
  /** It has room for those that will follow them. */
  readonly leaving: readonly Live<Pod>[];
}

/** Claims with the Pods that they are still for; without any of these, or from a pool that is another by now, none. */
export async function stillWanted(
  { claims }: Plan,
  pools: readonly PoolInSight[],
  now: Now,
): Promise<WantedClaim[]> {
  const same = new Set(
    pools
      .map(({ pool }) => pool)
      .filter((pool) => isSame(pool, now))
      .map(({ metadata }) => metadata?.name),
  );
  const wanted: WantedClaim[] = [];
  await now.slices.each(claims, (planned) => {
    if (!same.has(planned.nodePool)) return;
    const waiting = planned.pods.flatMap((key) => now.pods.waiting(key) ?? []);
    const leaving = planned.pods.flatMap((key) => now.pods.leaving(key) ?? []);
    if (waiting.length + leaving.length > 0) wanted.push({ planned, waiting, leaving });
  });
  return wanted;
}

/** Pods with room on a machine that is coming wait for it; those with room on an open Node are the scheduler's. */
export async function onTheWay(
  { nominations }: Plan,
  nodes: readonly NodeInSight[],
  now: Now,
): Promise<(readonly [pod: Live<Pod>, claimName: string])[]> {
  const coming = nodes.filter(({ kind, name }) => kind === 'claim' && isThere(name, now));
  const names = new Set(coming.map(({ name }) => name));
  const found: [Live<Pod>, string][] = [];
  await now.slices.each(nominations, ([key, target]) => {
    const pod = names.has(target) ? now.pods.waiting(key) : undefined;
    if (pod) found.push([pod, target]);
  });
  return found;
}

/** Requirements, limits and readiness of the pool are what the plan was made from. */
function isSame({ metadata }: NodePool, { caches }: Now): boolean {
  const pool = caches.nodePools.get(metadata?.name ?? '');
  if (!pool || pool.metadata.deletionTimestamp !== undefined) return false;
  return pool.metadata.uid === metadata?.uid && pool.metadata.generation === metadata.generation;
}

function isThere(claimName: string, { claims }: Now): boolean {
  const claim = claims.get(claimName);
  return claim !== undefined && claim.metadata.deletionTimestamp === undefined;
}
