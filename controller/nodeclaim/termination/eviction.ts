import { ApiError, isConflict, isNotFound } from '#kube/client/errors.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { annotations } from '#schemas/names.ts';
import { minutes, seconds, type Duration, type Instant } from '#schemas/time/clock.ts';

import type { Context } from '../../context.ts';
import { asksToStay } from '../../do-not-disrupt.ts';
import { coded } from '../../reason.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { budgetsOf } from './budgets.ts';
import { deadlineOf } from './deadline.ts';
import { graceOf } from './drainable.ts';

/**
 * Has Pods leave. They are evicted, so PodDisruptionBudgets hold; `karpenter.sh/do-not-disrupt` holds a Pod until the
 * claim's terminationGracePeriod leaves just the Pod's own grace period. From then on neither holds it.
 *
 * What cannot leave yet is told in an event and returned, never thrown: one Pod that stays must not keep the others.
 */
export class Eviction {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** @returns why the Pod cannot leave yet, if something holds it; ends with the code */
  async push(hand: ClaimInHand, pod: Live<Pod>): Promise<string | undefined> {
    const deadline = deadlineOf(hand.claim, this.#context.clock) ?? Number.POSITIVE_INFINITY;
    if (this.#isTooSlow(pod, deadline)) {
      await this.#deleteBy(pod, deadline);
      return undefined;
    }
    if (pod.metadata.deletionTimestamp !== undefined) return undefined;
    const why = asksToStay(pod, this.#context.clock)
      ? coded(`its annotation ${annotations.doNotDisrupt} holds it`, 'KPU401')
      : await this.#evict(hand, pod);
    if (why !== undefined) this.#blocked(hand, pod, why);
    return why;
  }

  /** One that leaves already is in time when its own end, or the least there is, comes before the deadline. */
  #isTooSlow(pod: Live<Pod>, deadline: Instant): boolean {
    const { clock } = this.#context;
    const { deletionTimestamp } = pod.metadata;
    if (deletionTimestamp === undefined) return clock.now() >= deadline - graceOf(pod);
    return clock.from(deletionTimestamp) > Math.max(deadline, clock.now() + seconds(1));
  }

  async #evict(hand: ClaimInHand, pod: Live<Pod>): Promise<string | undefined> {
    const { namespace = '', name, uid } = pod.metadata;
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace, name },
      deleteOptions: { preconditions: { uid } },
    };
    const { client, recorder } = this.#context;
    try {
      await client.createSubresource(pods, { namespace, name }, 'eviction', eviction);
      const message = `Evicted because machine ${hand.identity.name} goes away`;
      recorder.record({ object: pod, type: 'Normal', reason: 'Evicted', message });
      return undefined;
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return undefined; // gone already
      if (!(error instanceof ApiError)) throw error;
      return refusalText(error, budgetsOf(this.#context.caches, pod));
    }
  }

  #blocked({ claim }: ClaimInHand, { metadata }: Live<Pod>, why: string): void {
    const { namespace = '', name } = metadata;
    this.#context.recorder.record({
      object: claim,
      type: 'Warning',
      reason: 'FailedDraining',
      message: `Pod ${namespace}/${name} cannot leave yet: ${why}`,
      dedupeValues: [namespace, name, why],
      dedupeTimeout: minutes(10),
    });
  }

  async #deleteBy({ metadata }: Live<Pod>, deadline: Instant): Promise<void> {
    const { namespace = '', name, uid } = metadata;
    const left: Duration = deadline - this.#context.clock.now();
    const gracePeriodSeconds = Math.max(1, Math.floor(left / 1000));
    await this.#context.client
      .delete(pods, { namespace, name }, { uid, gracePeriodSeconds })
      .catch((error: unknown) => {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      });
  }
}

/** 429: a budget allows none now; 500: several budgets select the Pod; else a policy or a right is in the way. */
function refusalText({ code, text }: ApiError, budgets: readonly string[]): string {
  const names = budgets.join(' and ');
  if (code === 429 && budgets.length > 0) {
    return coded(`PodDisruptionBudget ${names} allows no eviction now`, 'KPU402');
  }
  if (code === 429) return coded(`the API server allows no eviction now: ${text}`, 'KPU402');
  return budgets.length > 1
    ? coded(`PodDisruptionBudgets ${names} select it, and only one may`, 'KPU405')
    : coded(`the API server refuses its eviction: ${text}`, 'KPU405');
}
