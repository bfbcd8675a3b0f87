import type { Metrics } from '#kube/metrics.ts';
import type { Plan } from '#scheduling/solver.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';
import type { Clock } from '#schemas/time/clock.ts';

const controller = 'provisioner';

/** Upstream's names. Source: Karpenter v1.15, pkg/controllers/provisioning/scheduling/metrics.go and pkg/metrics. */
export class ProvisioningMetrics {
  readonly #metrics: Metrics;
  readonly #clock: Clock;
  /** UIDs of Pods of the last pass that had a place. */
  #decided: ReadonlySet<string> = new Set();

  constructor(metrics: Metrics, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  timed(solve: () => Plan): Plan {
    const began = performance.now();
    const plan = solve();
    this.#metrics
      .histogram('karpenter_scheduler_scheduling_duration_seconds', 'Time to solve a pass.', [
        'controller',
      ])
      .observe({ controller }, (performance.now() - began) / 1000);
    return plan;
  }

  /** Kinds of Pods for which a pool makes no machine until they have rested. */
  backedOff(nodepool: string, kinds: number): void {
    this.#metrics
      .gauge(
        'karpenter_unikraft_provisioning_backoff_pod_kinds',
        'Kinds of Pods that a NodePool makes no machine for now, since several were in vain.',
        ['nodepool'],
      )
      .set({ nodepool }, kinds);
  }

  decided({ unschedulable }: Plan, pods: readonly Live<Pod>[]): void {
    this.#metrics
      .gauge('karpenter_scheduler_unschedulable_pods_count', 'Pods that no pool can serve now.', [
        'controller',
      ])
      .set({ controller }, unschedulable.size);
    this.#metrics
      .gauge('karpenter_scheduler_queue_depth', 'Pods of the last pass.', ['controller'])
      .set({ controller }, pods.length);
    const decisions = this.#metrics.histogram(
      'karpenter_pods_scheduling_decision_duration_seconds',
      'From the creation of a Pod to the first pass that had a place for it.',
    );
    const placed = pods.filter(({ metadata }) => !unschedulable.has(keyText(metadata)));
    for (const { metadata } of placed) {
      if (this.#decided.has(metadata.uid)) continue;
      const created = this.#clock.from(metadata.creationTimestamp ?? this.#clock.stamp());
      decisions.observe({}, (this.#clock.now() - created) / 1000);
    }
    this.#decided = new Set(placed.map(({ metadata }) => metadata.uid));
  }
}
