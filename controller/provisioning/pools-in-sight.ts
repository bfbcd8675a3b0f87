import { getCondition } from '#kube/conditions.ts';
import type { PoolInSight } from '#scheduling/solver.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { Condition, Live } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';
import { placeOf } from '#schemas/nodeclass/place.ts';

import type { Catalog, Offer } from '../catalog.ts';
import type { Context } from '../context.ts';
import { poolConditions } from '../nodepool/controller.ts';
import { isOurs } from '../ours.ts';
import { registeredDrivers } from './volumes/registered.ts';

/** A pool that takes no part in this pass, and why. */
export interface SkippedPool {
  readonly pool: string;
  readonly message: string;
}

export interface Supply {
  readonly pools: readonly PoolInSight[];
  readonly skipped: readonly SkippedPool[];
  /** By name of the node class: what claims that are on their way will become. */
  readonly offers: ReadonlyMap<string, Offer>;
}

/** What every Node of a node class carries beside its template's labels and its size; Kraftlet sets its own. */
export function nodeLabels(nodeClass: string, offer: Offer | undefined): Record<string, string> {
  const region = offer && placeOf(offer.nodeClass.spec)?.region;
  return {
    [labels.nodeClass]: nodeClass,
    [labels.virtualKubelet]: 'true',
    [labels.nodeRole]: 'agent',
    [labels.nodeType]: 'kubelet',
    [labels.excludeFromLoadBalancers]: 'true',
    ...(region === undefined ? {} : { [labels.region]: region }),
  };
}

/** What a pool may still have: its sizes under what policies allow, and its limits less what is used or promised. */
export type Share = Pick<PoolInSight, 'instanceTypes' | 'remaining' | 'limits'>;

/** What is known of a pool beside its own state. */
export interface PoolKnowledge {
  shareOf(pool: Live<NodePool>, offer: Offer, offers: Supply['offers']): Share;
  /** Undefined unless nothing is to be tried for it now. */
  whyResting(pool: string): string | undefined;
}

/** Pools of ours that may launch now: ready as their present generation was judged, not going, not static. */
export async function supplyOf(
  { caches, log }: Context,
  catalog: Catalog,
  signal: AbortSignal,
  known: PoolKnowledge,
): Promise<Supply> {
  const ours = caches.nodePools.list().filter(isOurs);
  const classes = new Set(ours.map(classOf));
  const offers = new Map<string, Offer>();
  const asked = [...classes].map(async (name) => {
    const offer = await catalog.offer(name, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      log.warn({ nodeClass: name, err: error }, 'what the node class offers cannot be told now');
    });
    if (offer) offers.set(name, offer);
  });
  await Promise.all(asked);
  const judged = ours
    .filter(
      ({ metadata, spec }) =>
        metadata.deletionTimestamp === undefined && spec.replicas === undefined,
    )
    .map((pool) => ({
      pool,
      offer: offers.get(classOf(pool)),
      reason: whyNot(pool, offers) ?? known.whyResting(pool.metadata.name),
    }));
  return {
    offers,
    pools: judged.flatMap(({ pool, offer, reason }) =>
      offer && reason === undefined
        ? [
            {
              pool,
              ...known.shareOf(pool, offer, offers),
              labels: nodeLabels(classOf(pool), offer),
              drivers: registeredDrivers(offer.nodeClass.spec),
            },
          ]
        : [],
    ),
    skipped: judged.flatMap(({ pool, reason }) =>
      reason === undefined ? [] : [{ pool: pool.metadata.name, message: reason }],
    ),
  };
}

function whyNot(pool: Live<NodePool>, offers: ReadonlyMap<string, Offer>): string | undefined {
  const nodeClass = classOf(pool);
  const ready = getCondition(pool.status?.conditions, 'Ready');
  if (!ready || isStale(ready, pool)) return 'its readiness is not known yet';
  if (ready.status !== 'True')
    return `it is not ready: ${troubleOf(pool) || ready.message || ready.status}`;
  return offers.has(nodeClass)
    ? undefined
    : `UnikraftNodeClass ${nodeClass} has nothing to launch now`;
}

/** The root only names the conditions that it depends on; what is wrong stands in these. */
function troubleOf({ status }: Live<NodePool>): string {
  return poolConditions.dependents
    .map((type) => getCondition(status?.conditions, type))
    .filter((condition) => condition?.status === 'False' || condition?.status === 'Unknown')
    .flatMap((condition) => condition?.message || [])
    .join('; ');
}

function isStale({ observedGeneration = 0 }: Condition, { metadata }: Live<NodePool>): boolean {
  return observedGeneration < (metadata.generation ?? 0);
}

const classOf = (pool: NodePool): string => pool.spec.template.spec.nodeClassRef.name;
