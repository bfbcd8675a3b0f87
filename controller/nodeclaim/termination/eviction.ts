import { ApiError, isConflict, isNotFound } from '#kube/client/errors.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { annotations } from '#schemas/names.ts';
import { seconds, type Duration, type Instant } from '#schemas/time/clock.ts';

import type { Context } from '../../context.ts';
import type { ClaimInHand } from '../claim-in-hand.ts';
import { deadlineOf } from '../termination-deadline.ts';
import { graceOf, isHeld } from './drainable.ts';

/**
 * Has Pods leave. They are evicted, so PodDisruptionBudgets hold; `karpenter.sh/do-not-disrupt` holds a Pod until the
 * claim's terminationGracePeriod leaves just the Pod's own grace period. From then on neither holds it.
 *
 * What cannot leave yet is told in an event, never thrown: one Pod that stays must not keep the others.
 */
export class Eviction {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async push(hand: ClaimInHand, pod: Live<Pod>): Promise<void> {
    const deadline = deadlineOf(hand.claim, this.#context.clock) ?? Number.POSITIVE_INFINITY;
    if (this.#isTooSlow(pod, deadline)) return this.#deleteBy(pod, deadline);
    if (pod.metadata.deletionTimestamp !== undefined) return;
    if (!isHeld(pod)) return this.#evict(hand, pod);
    const why = `it is held by ${annotations.doNotDisrupt} (KPU401)`;
    this.#blocked(hand, pod, why);
  }

  /** One that leaves already is in time when its own end, or the least there is, comes before the deadline. */
  #isTooSlow(pod: Live<Pod>, deadline: Instant): boolean {
    const { clock } = this.#context;
    const { deletionTimestamp } = pod.metadata;
    if (deletionTimestamp === undefined) return clock.now() >= deadline - graceOf(pod);
    return clock.from(deletionTimestamp) > Math.max(deadline, clock.now() + seconds(1));
  }

  async #evict(hand: ClaimInHand, pod: Live<Pod>): Promise<void> {
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
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return; // gone already
      // 429: a budget allows none now; 500: two budgets select it; else a policy or a right is in the way.
      if (!(error instanceof ApiError)) throw error;
      this.#blocked(hand, pod, `${error.message} (${error.code === 429 ? 'KPU402' : 'KPU405'})`);
    }
  }

  #blocked({ claim }: ClaimInHand, { metadata }: Live<Pod>, why: string): void {
    const { namespace = '', name } = metadata;
    this.#context.recorder.record({
      object: claim,
      type: 'Warning',
      reason: 'FailedDraining',
      message: `Pod ${namespace}/${name} cannot leave yet: ${why}`,
      dedupeValues: [namespace, name],
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
