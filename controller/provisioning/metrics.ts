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
  /** UIDs of Pods of the last pass that had a place, and those of this one. */
  #before: ReadonlySet<string> = new Set();
  #now = new Set<string>();
  #solvingSince: number | undefined;

  constructor(metrics: Metrics, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
    metrics.sample(
      'karpenter_scheduler_unfinished_work_seconds',
      'How long the pass that is solved now has taken so far; 0 when none is.',
      { controller },
      () => (performance.now() - (this.#solvingSince ?? performance.now())) / 1000,
    );
  }

  /** A pass begins. */
  batch(pods: number, ignored: number): void {
    this.#metrics
      .gauge('karpenter_scheduler_queue_depth', 'Pods of the last pass.', ['controller'])
      .set({ controller }, pods);
    this.#metrics
      .gauge(
        'karpenter_scheduler_ignored_pods_count',
        'Pods without a node that no machine of ours could help.',
      )
      .set(ignored);
    this.#metrics
      .histogram('karpenter_unikraft_batch_pods', 'Pods of a pass.', [], batchBuckets)
      .observe({}, pods);
  }

  /** From the problem to the plan, the way to the thread and back included. */
  async timed(solve: () => Promise<Plan>): Promise<Plan> {
    const began = performance.now();
    this.#solvingSince = began;
    const plan = await solve().finally(() => (this.#solvingSince = undefined));
    this.#metrics
      .histogram('karpenter_scheduler_scheduling_duration_seconds', 'Time to solve a pass.', [
        'controller',
      ])
      .observe({ controller }, (performance.now() - began) / 1000);
    return plan;
  }

  unschedulable(pods: number): void {
    this.#metrics
      .gauge('karpenter_scheduler_unschedulable_pods_count', 'Pods that no pool can serve now.', [
        'controller',
      ])
      .set({ controller }, pods);
  }

  /**
   * Where the Pods of a pass can go: one zone by its name, `flexible` or `none`. Pods that a machine is on its way for
   * are in no pass.
   */
  zones(counts: ReadonlyMap<string, number>): void {
    const gauge = this.#metrics.gauge(
      'karpenter_scheduler_pending_pods_by_effective_zone_count',
      'Pods of the last pass without a node by the zone that they can only go to: flexible for several, none where no zone will do.',
      ['controller', 'zone'],
    );
    gauge.reset(); // a zone that nobody waits for any more is not 0, it is gone
    for (const [zone, pods] of counts) gauge.set({ controller, zone }, pods);
  }

  /** Called for each Pod of a pass, and {@link ProvisioningMetrics.passed} then. */
  decided({ unschedulable }: Plan, { metadata }: Live<Pod>): void {
    if (unschedulable.has(keyText(metadata))) return;
    this.#now.add(metadata.uid);
    if (this.#before.has(metadata.uid)) return;
    const created = this.#clock.from(metadata.creationTimestamp ?? this.#clock.stamp());
    this.#metrics
      .histogram(
        'karpenter_pods_scheduling_decision_duration_seconds',
        'From the creation of a Pod to the first pass that had a place for it.',
      )
      .observe({}, (this.#clock.now() - created) / 1000);
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

  /** A pass ended without a plan, or without all of it carried out. */
  failed(): void {
    this.#metrics
      .counter('karpenter_unikraft_passes_failed_total', 'Passes that failed, for any reason.')
      .inc();
  }

  /** Pods with which planning failed, and that are left out of passes for now. */
  quarantined(pods: number): void {
    this.#metrics
      .gauge(
        'karpenter_unikraft_quarantined_pods',
        'Pods that wait and are left out of planning for a while, since it failed with them.',
      )
      .set(pods);
  }

  passed(): void {
    this.#before = this.#now;
    this.#now = new Set();
  }
}

const batchBuckets = [1, 10, 100, 1000, 10_000, 100_000];
