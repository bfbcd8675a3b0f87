import type { KubeClient } from '#kube/client/client.ts';
import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { finalizers } from '#schemas/names.ts';

import { by, type Caches } from '../../caches.ts';
import type { ClaimInHand } from '../claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../step.ts';

/**
 * Frees the Pods that are still bound to the Node. Kraftlet holds each by a finalizer until its guest is gone; the
 * guests are gone with the instance, and Kraftlet cannot say so any more. A Node removed first would leave them
 * stuck for ever, so this comes after the proof and before the Node.
 */
export class PodsReleased implements Step {
  readonly #client: KubeClient;
  readonly #caches: Caches;

  constructor(client: KubeClient, caches: Caches) {
    this.#client = client;
    this.#caches = caches;
  }

  async run(hand: ClaimInHand): Promise<Outcome> {
    const { nodeName } = hand.status;
    const left = nodeName === undefined ? [] : this.#caches.pods.by(by.node, nodeName);
    if (left.length === 0) return done();
    await Promise.all(left.map((pod) => this.#release(pod)));
    const message = `Releasing ${left.length} Pods of the ended machine`;
    return wait({ after: 500, reason: 'ReleasingPods', message });
  }

  /** The finalizer first; then the delete, for without grace 0 the Pod would stay until its Node goes. */
  async #release({ metadata }: Live<Pod>): Promise<void> {
    const { namespace = '', name, uid, resourceVersion } = metadata;
    const kept = (metadata.finalizers ?? []).filter((one) => one !== finalizers.kraftletPod);
    try {
      if (kept.length !== (metadata.finalizers ?? []).length) {
        const body = { metadata: { resourceVersion, finalizers: kept } };
        await this.#client.patch(pods, { namespace, name }, { type: 'merge', body });
      }
      await this.#client.delete(pods, { namespace, name }, { uid, gracePeriodSeconds: 0 });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error; // gone, or changed: looked at again
    }
  }
}
