import type { Metrics } from '#kube/metrics.ts';
import { Controller, watch } from '#kube/runtime/controller.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';
import type { Duration } from '#schemas/time/clock.ts';

import { by, type Caches } from '../caches.ts';
import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import type { PodsPlannedFor } from './candidates.ts';
import { Consolidatable } from './consolidatable.ts';
import { Emptiness } from './emptiness.ts';
import { Expiration } from './expiration.ts';
import { DisruptionMetrics } from './metrics.ts';
import { isEvent, PodActivity } from './pod-activity.ts';
import { Removals } from './removals.ts';

export interface DisruptionOptions {
  /** Pods that the provisioner has planned for a claim: `Nominations.podsOf`. */
  readonly plannedFor: PodsPlannedFor;
  /** Between closing a Node and the second look; 2 s when absent. */
  readonly wait?: Duration;
}

/** The controllers of disruption with what wakes them. */
export function disruptionControllers(
  context: Context,
  { plannedFor, wait }: DisruptionOptions,
  metrics: Metrics,
): Controller[] {
  const { caches, clock, log } = context;
  const common = { clock, log, metrics };
  const activity = new PodActivity(context);
  const counted = new DisruptionMetrics(metrics);
  const removals = new Removals(context, counted, wait === undefined ? {} : { wait });
  const ourClaims = watch(caches.nodeClaims, (claim) =>
    isOurs(claim) ? [claim.metadata.name] : [],
  );
  return [
    new Controller({
      ...common,
      name: 'nodeclaim.consolidatable',
      reconciler: new Consolidatable(context, activity),
      concurrency: 10,
      watches: [
        ourClaims,
        watch(caches.nodePools, ({ metadata }) =>
          caches.nodeClaims.by(by.nodePool, metadata.name).map((claim) => claim.metadata.name),
        ),
        watch(caches.pods, (pod, other) =>
          !other || isEvent(pod, other) ? claimsOf(pod, caches) : [],
        ),
      ],
    }),
    new Controller({
      ...common,
      name: 'disruption.emptiness',
      reconciler: new Emptiness(context, { activity, removals, metrics: counted, plannedFor }),
      concurrency: 4,
      watches: [
        watch(caches.nodePools, (pool) => (isOurs(pool) ? [pool.metadata.name] : [])),
        watch(caches.nodeClaims, poolOf),
        watch(caches.nodes, poolOf),
        watch(caches.pods, (pod, other) =>
          concernsEmptiness(pod, other) ? poolsOf(pod, caches) : [],
        ),
      ],
    }),
    new Controller({
      ...common,
      name: 'nodeclaim.expiration',
      reconciler: new Expiration(context, metrics),
      concurrency: 10,
      watches: [ourClaims],
    }),
  ];
}

/** The claim behind the Node that a Pod is bound to. */
function claimsOf(pod: Pod, { nodes, nodeClaims }: Pick<Caches, 'nodes' | 'nodeClaims'>): string[] {
  const providerID = nodes.get(pod.spec?.nodeName ?? '')?.spec?.providerID;
  if (providerID === undefined) return [];
  return nodeClaims.by(by.providerID, providerID).map(({ metadata }) => metadata.name);
}

/** A Pod that came, ended or is gone, and one that a Node is no longer nominated for. */
function concernsEmptiness(pod: Live<Pod>, other: Live<Pod> | undefined): boolean {
  const isNominated = pod.status?.nominatedNodeName !== other?.status?.nominatedNodeName;
  return !other || isNominated || isEvent(pod, other);
}

function poolsOf({ spec, status }: Pod, { nodes }: Pick<Caches, 'nodes'>): string[] {
  const names = [spec?.nodeName, status?.nominatedNodeName];
  return names.flatMap((name) => {
    const node = name ? nodes.get(name) : undefined;
    return node ? poolOf(node) : [];
  });
}

function poolOf({ metadata }: Node | NodeClaim): string[] {
  const pool = metadata?.labels?.[labels.nodePool];
  return pool === undefined ? [] : [pool];
}
