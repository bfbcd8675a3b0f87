import { OptionalInformer } from '#kube/cache/optional-informer.ts';
import { SharedInformer } from '#kube/cache/shared-informer.ts';
import type { KubeClient } from '#kube/client/client.ts';
import type { Logger } from '#kube/log.ts';
import type { Metrics } from '#kube/metrics.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { group, labels, nodeClassKind } from '#schemas/names.ts';
import type { MachineCounts } from '#schemas/rules/change.ts';
import { minutes, type Clock } from '#schemas/time/clock.ts';

export interface MachinesParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * A healthy watch brings a bookmark about each minute, and one that is broken is opened again within a quarter of one.
 * What has not been heard of for this long may be of yesterday.
 */
const fresh = minutes(5);

/**
 * The machines of the cluster, as far as a warning has to count them.
 *
 * Nothing waits for this copy: neither readiness nor a decision. While it is not full, or has not been heard of for
 * long (no right to watch, no CRD of Karpenter's, no API server), nobody has counted.
 *
 * Claims are selected by the label that whoever makes them puts on (Karpenter v1.15, NodeClassLabelKey in
 * pkg/apis/v1/labels.go), so that those of other providers never come here. Whose one is, says its reference.
 */
export class Machines implements Runnable {
  readonly name = 'webhook.machines';
  readonly #clock: Clock;
  readonly #claims: SharedInformer<NodeClaim>;
  readonly #copy: OptionalInformer<NodeClaim>;

  constructor(parts: MachinesParts) {
    const { client, clock, log, metrics } = parts;
    this.#clock = clock;
    this.#claims = new SharedInformer(client, nodeClaims, {
      clock,
      log,
      metrics,
      labelSelector: labels.nodeClass,
      transform: asCounted,
    });
    this.#copy = new OptionalInformer(this.#claims, parts);
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#copy.run(signal);
  }

  /**
   * Machines that stand behind a NodePool or node class, by pool; undefined where nobody has counted. Those that are
   * going already, and those that no pool made and nothing will make anew, are none.
   */
  behind(changed: KubeObject): MachineCounts | undefined {
    const { synced, lastEventAt } = this.#claims;
    if (!synced || this.#clock.now() - lastEventAt > fresh) return undefined;
    const name = changed.metadata?.name;
    const counts = new Map<string, number>();
    for (const claim of this.#claims.list()) {
      const pool = poolOf(claim);
      const stands = changed.kind === nodeClassKind ? claim.spec.nodeClassRef.name : pool;
      if (pool === undefined || stands !== name) continue;
      counts.set(pool, (counts.get(pool) ?? 0) + 1);
    }
    return counts;
  }
}

/** The pool that would make a machine anew in place of this one. */
function poolOf({ metadata, spec }: Live<NodeClaim>): string | undefined {
  const { nodeClassRef } = spec;
  const isOurs = nodeClassRef.group === group && nodeClassRef.kind === nodeClassKind;
  return isOurs && !metadata.deletionTimestamp ? metadata.labels?.[labels.nodePool] : undefined;
}

const none: NodeClaim['spec']['requirements'] = [];

/** All that is kept of a claim: 5 kB shrink to 0.6, all of the cache counted in. */
function asCounted({ metadata, spec }: Live<NodeClaim>): Live<NodeClaim> {
  const { name, uid, resourceVersion, deletionTimestamp } = metadata;
  const pool = metadata.labels?.[labels.nodePool];
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(pool !== undefined && { labels: { [labels.nodePool]: pool } }),
    },
    spec: { nodeClassRef: spec.nodeClassRef, requirements: none },
  };
}
