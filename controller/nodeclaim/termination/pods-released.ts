import type { KubeClient } from '#kube/client/client.ts';
import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { finalizers } from '#schemas/names.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { by, type Caches } from '../../caches.ts';
import { nodeNameOf } from '../machine/machine-nodes.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';
import { isStuck } from './drainable.ts';

/**
 * Frees the Pods that are still bound to the Node. Kraftlet holds each by a finalizer until its guest is gone; the
 * guests are gone with the instance, and Kraftlet cannot say so any more. A Node removed first would leave them
 * stuck for ever, so this comes after the proof and before the Node.
 *
 * Only Pods that are held are waited for: a DaemonSet that tolerates everything makes its Pod again as long as
 * there is a Node, and such Pods go with it.
 *
 * Kraftlet's own Pod, where it is stuck on a lost host, goes here too: with its machine gone it can do no harm, and its
 * StatefulSet would wait for it as long as the host's Node is there.
 */
export class PodsReleased implements Step {
  readonly #client: KubeClient;
  readonly #caches: Caches;
  readonly #clock: Clock;

  constructor(client: KubeClient, caches: Caches, clock: Clock) {
    this.#client = client;
    this.#caches = caches;
    this.#clock = clock;
  }

  async run(hand: ClaimInHand): Promise<Outcome> {
    if (!hand.mayHaveMachine) return done();
    const kraftlets = this.#caches.pods.by(by.claimUid, hand.identity.claimUid);
    const stuck = kraftlets.filter((pod) => isStuck(pod, this.#clock));
    await Promise.all(stuck.map(async (pod) => this.#release(pod)));
    const cached = this.#caches.pods.by(by.node, nodeNameOf(hand));
    const bound = cached.some(isHeld) ? cached : await this.#bound(hand);
    await Promise.all(bound.map(async (pod) => this.#release(pod)));
    const held = bound.filter(isHeld);
    if (held.length === 0) return done();
    const message = `Releasing ${held.length} Pods of the ended machine`;
    return wait({ after: 500, reason: 'ReleasingPods', message });
  }

  /** The cache may be late with the last Pod that Kraftlet took, so the last word is the API server's. */
  async #bound(hand: ClaimInHand): Promise<Live<Pod>[]> {
    const fieldSelector = `spec.nodeName=${nodeNameOf(hand)}`;
    return (await this.#client.list(pods, { fieldSelector })).items;
  }

  /** The finalizer first; then the delete, for without grace 0 the Pod would stay until its Node goes. */
  async #release(pod: Live<Pod>): Promise<void> {
    const { namespace = '', name, uid, resourceVersion, finalizers: present = [] } = pod.metadata;
    const kept = present.filter((one) => one !== finalizers.kraftletPod);
    try {
      if (isHeld(pod)) {
        const body = { metadata: { resourceVersion, finalizers: kept } };
        await this.#client.patch(pods, { namespace, name }, { type: 'merge', body });
      }
      await this.#client.delete(pods, { namespace, name }, { uid, gracePeriodSeconds: 0 });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error; // gone, or changed: looked at again
    }
  }
}

function isHeld({ metadata }: Pod): boolean {
  return metadata?.finalizers?.includes(finalizers.kraftletPod) ?? false;
}
