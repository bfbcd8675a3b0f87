import type { Metrics } from '#kube/metrics.ts';
import { labels } from '#schemas/names.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { countDisrupted } from '../metrics.ts';
import type { ClaimInHand } from './steps/claim-in-hand.ts';

/** Upstream's NodeClaim metrics for what happens here. Source: Karpenter v1.15, pkg/metrics/metrics.go. */
export class NodeClaimMetrics {
  readonly #metrics: Metrics;
  readonly #clock: Clock;

  constructor(metrics: Metrics, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  initialized(hand: ClaimInHand): void {
    this.#metrics
      .counter('karpenter_nodes_created_total', 'Nodes made ready.', ['nodepool', 'zone'])
      .inc({ nodepool: poolOf(hand), zone: labelOf(hand, labels.zone) });
    this.#metrics
      .histogram(
        'karpenter_unikraft_machine_ready_duration_seconds',
        'From the creation of a NodeClaim to its initialised Node.',
        ['nodepool'],
      )
      .observe({ nodepool: poolOf(hand) }, (this.#clock.now() - hand.createdAt) / 1000);
  }

  /** A claim was given up before it became a Node. */
  ended(hand: ClaimInHand, reason: string): void {
    countDisrupted(this.#metrics, hand.claim, { reason });
  }

  terminated(hand: ClaimInHand): void {
    this.#metrics
      .counter('karpenter_nodeclaims_terminated_total', 'NodeClaims that are gone.', [
        'nodepool',
        'capacity_type',
        'zone',
      ])
      .inc({
        nodepool: poolOf(hand),
        capacity_type: labelOf(hand, labels.capacityType),
        zone: labelOf(hand, labels.zone),
      });
    const deleted = this.#clock.from(hand.claim.metadata.deletionTimestamp ?? this.#clock.stamp());
    this.#metrics
      .histogram(
        'karpenter_nodeclaims_termination_duration_seconds',
        'From the deletion of a NodeClaim to its end.',
        ['nodepool'],
      )
      .observe({ nodepool: poolOf(hand) }, (this.#clock.now() - deleted) / 1000);
  }
}

function poolOf({ identity }: ClaimInHand): string {
  return identity.nodePool ?? '';
}

function labelOf({ claim }: ClaimInHand, label: string): string {
  return claim.metadata.labels?.[label] ?? '';
}
