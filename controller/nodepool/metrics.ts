/** What each pool uses and may use. Source: Karpenter v1.15, pkg/controllers/metrics/nodepool. */
import type { Metrics } from '#kube/metrics.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { Quantity, quantityProblem } from '#schemas/quantity/quantity.ts';

const names = ['resource_type', 'nodepool'];

export class NodePoolMetrics {
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  show(pool: string, usage: ResourceList, { spec }: NodePool): void {
    for (const [gauge, values] of [
      [this.#usage, usage],
      [this.#limit, spec.limits ?? {}],
    ] as const) {
      for (const [resource, value] of Object.entries(values)) {
        if (quantityProblem(value) !== undefined) continue; // the pool's condition tells
        gauge.set({ resource_type: resource, nodepool: pool }, numberOf(value));
      }
    }
  }

  get #usage() {
    return this.#metrics.gauge(
      'karpenter_nodepools_usage',
      'What the machines of a NodePool add up to.',
      names,
    );
  }

  get #limit() {
    return this.#metrics.gauge('karpenter_nodepools_limit', 'The limits of a NodePool.', names);
  }
}

/** In units: bytes, cores. Thousandths are enough for a gauge. */
function numberOf(value: string): number {
  return Number(Quantity.parse(value).toMilli()) / 1000;
}
