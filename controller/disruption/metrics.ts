/** Karpenter's metrics of disruption. Source: Karpenter v1.15, pkg/controllers/disruption/metrics.go. */
import type { Metrics } from '#kube/metrics.ts';
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';

import { countDisrupted } from '../metrics.ts';

const policies: Readonly<Record<string, string>> = {
  WhenEmpty: 'when_empty',
  WhenEmptyOrUnderutilized: 'when_empty_or_underutilized',
  Balanced: 'balanced',
};

export class DisruptionMetrics {
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  removedEmpty(claim: NodeClaim, pool: NodePool): void {
    const policy = pool.spec.disruption?.consolidationPolicy ?? 'WhenEmptyOrUnderutilized';
    countDisrupted(this.#metrics, claim, { reason: 'empty', policy: policies[policy] ?? '' });
    this.#metrics
      .counter(
        'karpenter_voluntary_disruption_decisions_total',
        'Decisions to disrupt that were carried out.',
        ['decision', 'reason', 'consolidation_type'],
      )
      .inc({ decision: 'delete', reason: 'empty', consolidation_type: 'empty' });
  }

  rejected(): void {
    this.#metrics
      .counter(
        'karpenter_voluntary_disruption_failed_validations_total',
        'Decisions to disrupt that a second look took back.',
        ['consolidation_type'],
      )
      .inc({ consolidation_type: 'empty' });
  }

  allowed(pool: string, count: number): void {
    this.#metrics
      .gauge(
        'karpenter_nodepools_allowed_disruptions',
        'Machines of a NodePool that may be disrupted now.',
        ['nodepool', 'reason'],
      )
      .set({ nodepool: pool, reason: 'empty' }, count);
  }
}
