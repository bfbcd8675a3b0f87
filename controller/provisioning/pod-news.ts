import type { Plan } from '#scheduling/solver.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';

import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import type { ProvisioningEvents } from './events.ts';
import type { ProvisioningMetrics } from './metrics.ts';
import type { SkippedPool } from './pools-in-sight.ts';
import { isAimed } from './provisionable.ts';
import type { PodAside } from './quarantine/pods-aside.ts';
import type { Slices } from './slices.ts';

/** What pending Pods, and who counts them, hear of a pass. Pods that have to leave their node run, and hear nothing. */
export class PodNews {
  readonly #context: Context;
  readonly #events: ProvisioningEvents;
  readonly #metrics: ProvisioningMetrics;

  constructor(context: Context, events: ProvisioningEvents, metrics: ProvisioningMetrics) {
    this.#context = context;
    this.#events = events;
    this.#metrics = metrics;
  }

  /** @param pods  those of the pass that have no node */
  async tell(
    plan: Plan,
    pods: readonly Live<Pod>[],
    skipped: readonly SkippedPool[],
    slices: Slices,
  ): Promise<void> {
    const isToHear = this.#whoHears();
    let refused = 0;
    await slices.each(pods, (pod) => {
      if (plan.unschedulable.has(keyText(pod.metadata))) refused += 1;
      this.#metrics.decided(plan, pod);
      this.#events.placed(plan, pod);
      if (isToHear(pod)) this.#events.refused(plan, pod, skipped);
    });
    this.#metrics.unschedulable(refused);
    this.#metrics.zones(plan.zones);
    this.#metrics.passed();
  }

  /** Also when the pass fails then: they wait, and it is not for a machine. */
  tellAside(all: readonly PodAside[]): void {
    const pending = all.filter(({ pod }) => !pod.spec?.nodeName);
    this.#metrics.quarantined(pending.length);
    const isToHear = this.#whoHears();
    for (const one of pending) if (isToHear(one.pod)) this.#events.setAside(one);
  }

  /** Where another provider has pools, a Pod that is not aimed at our Nodes may be theirs: it hears nothing from us. */
  #whoHears(): (pod: Pod) => boolean {
    const areAllOurs = this.#context.caches.nodePools.list().every(isOurs);
    return (pod) => areAllOurs || isAimed(pod);
  }
}
