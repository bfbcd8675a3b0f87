import type { Metrics } from '#kube/metrics.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import { labels } from '#schemas/names.ts';

/** Why a claim was ended, as one label value: `empty`, `expired`, `launch_timeout`, … */
export interface Disrupted {
  readonly reason: string;
  /** Snake case; only where a consolidation policy decided. */
  readonly policy?: string;
}

/**
 * Counts a claim that the operator deletes by its own decision, with upstream's labels. Whoever ends claims counts
 * here, so that the metric has one set of labels.
 *
 * Source: Karpenter v1.15, pkg/metrics/metrics.go.
 */
export function countDisrupted(
  metrics: Metrics,
  { metadata, spec }: NodeClaim,
  { reason, policy = '' }: Disrupted,
): void {
  metrics
    .counter('karpenter_nodeclaims_disrupted_total', 'NodeClaims deleted by the operator.', [
      'reason',
      'nodepool',
      'capacity_type',
      'consolidation_policy',
      'termination_mode',
    ])
    .inc({
      reason,
      nodepool: metadata?.labels?.[labels.nodePool] ?? '',
      capacity_type: metadata?.labels?.[labels.capacityType] ?? '',
      consolidation_policy: policy,
      termination_mode: spec.terminationGracePeriod === undefined ? 'graceful' : 'eventual',
    });
}
