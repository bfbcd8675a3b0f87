import type { KubeClient } from '#kube/client/client.ts';
import { isConflict, isNotFound, isTooManyRequests } from '#kube/client/errors.ts';
import type { EventRecorder } from '#kube/runtime/events.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import { labels, taints } from '#schemas/names.ts';
import { seconds, type Clock, type Instant } from '#schemas/time/clock.ts';

import { by } from '../../caches.ts';
import type { Context } from '../../context.ts';
import type { Freshest } from '../../freshest.ts';
import type { ClaimInHand } from '../claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../step.ts';
import { deadlineOf } from '../termination-deadline.ts';
import { graceOf, isHeld, isInTheWay } from './drainable.ts';

/**
 * Empties the Node while Kraftlet still runs: only Kraftlet can end guests in order and let their Pods go. Pods are
 * evicted, so PodDisruptionBudgets hold; `karpenter.sh/do-not-disrupt` holds a Pod until the claim's
 * terminationGracePeriod leaves just its own grace period.
 *
 * Source: Karpenter v1.15, pkg/controllers/node/termination.
 */
export class Drain implements Step {
  readonly condition = 'Drained';
  readonly #client: KubeClient;
  readonly #context: Context;
  readonly #nodes: Freshest<Node>;
  readonly #recorder: EventRecorder;
  readonly #clock: Clock;

  constructor(context: Context, freshNodes: Freshest<Node>) {
    this.#client = context.client;
    this.#context = context;
    this.#nodes = freshNodes;
    this.#recorder = context.recorder;
    this.#clock = context.clock;
  }

  async run(hand: ClaimInHand): Promise<Outcome> {
    const node = this.#nodes.get(hand.status.nodeName ?? '');
    if (!node || !hand.is('Registered')) return done(); // a Node that never opened holds nobody
    await this.#close(node);
    const now = this.#clock.now();
    const left = this.#podsOf(node).filter((pod) => isInTheWay(pod, this.#clock));
    if (left.length === 0) return done();
    await Promise.all(left.map((pod) => this.#push(hand, pod, now)));
    const names = left.slice(0, 3).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    const more = left.length > 3 ? `, … (${left.length} in all)` : '';
    const message = `Waiting for Pods to leave: ${names.join(', ')}${more}`;
    return wait({ after: seconds(1), reason: 'Draining', message });
  }

  /** No new Pods, no traffic from outside. */
  async #close(node: Live<Node>): Promise<void> {
    const current = node.spec?.taints ?? [];
    if (current.some(({ key }) => key === taints.disrupted.key)) return;
    const { name, resourceVersion } = node.metadata;
    const body = {
      metadata: { resourceVersion, labels: { [labels.excludeFromLoadBalancers]: 'karpenter' } },
      spec: { taints: [...current, taints.disrupted] },
    };
    this.#nodes.wrote(await this.#client.patch(nodes, { name }, { type: 'merge', body }));
  }

  #podsOf(node: Live<Node>): Live<Pod>[] {
    return this.#context.caches.pods.by(by.node, node.metadata.name);
  }

  async #push(hand: ClaimInHand, pod: Live<Pod>, now: Instant): Promise<void> {
    if (pod.metadata.deletionTimestamp !== undefined) return;
    const deadline = deadlineOf(hand.claim, this.#clock);
    const overdue = deadline !== undefined && now >= deadline - graceOf(pod);
    if (overdue) return this.#deleteBy(pod, Math.max(1, Math.floor((deadline - now) / 1000)));
    if (isHeld(pod)) return;
    return this.#evict(hand, pod);
  }

  async #evict(hand: ClaimInHand, pod: Live<Pod>): Promise<void> {
    const { namespace = '', name, uid } = pod.metadata;
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace, name },
      deleteOptions: { preconditions: { uid } },
    };
    try {
      await this.#client.createSubresource(pods, { namespace, name }, 'eviction', eviction);
      const message = `Evicted because machine ${hand.identity.name} goes away`;
      this.#recorder.record({ object: pod, type: 'Normal', reason: 'Evicted', message });
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return; // gone already
      if (!isTooManyRequests(error)) throw error;
      const message = `Pod ${namespace}/${name} cannot be evicted yet: ${error.message}`;
      this.#recorder.record({
        object: hand.claim,
        type: 'Warning',
        reason: 'FailedDraining',
        message,
      });
    }
  }

  /** Past the deadline neither budget nor annotation holds a Pod. */
  async #deleteBy(pod: Live<Pod>, gracePeriodSeconds: number): Promise<void> {
    const { namespace = '', name, uid } = pod.metadata;
    await this.#client
      .delete(pods, { namespace, name }, { uid, gracePeriodSeconds })
      .catch((error: unknown) => {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      });
  }
}
