import type { KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import type { Resource } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';

import { by, type Caches } from '../../caches.ts';
import type { ClaimInHand } from '../claim-in-hand.ts';
import { releaseResources } from '../kraftlet-release.ts';
import { done, wait, type Outcome, type Step } from '../step.ts';

const defaultNamespace = 'kraftlet';

/**
 * Takes the Kraftlet release down, and waits until its Pod is gone: a Kraftlet still running would create the
 * Node again after it was removed.
 */
export class Uninstall implements Step {
  readonly #client: KubeClient;
  readonly #caches: Caches;

  constructor(client: KubeClient, caches: Caches) {
    this.#client = client;
    this.#caches = caches;
  }

  async run(hand: ClaimInHand): Promise<Outcome> {
    if (!hand.revision) return done(); // never got as far as a release
    const namespace = hand.revision.nodeClass.spec.kraftlet.namespace ?? defaultNamespace;
    const found = await Promise.all(
      releaseResources.map((resource) => this.#remove(hand, resource, namespace)),
    );
    const pods = this.#caches.pods.by(by.claimUid, hand.identity.claimUid);
    if (found.every((count) => count === 0) && pods.length === 0) return done();
    const message = `Waiting until Kraftlet release ${hand.identity.name} and its Pod are gone`;
    return wait({ after: 500, reason: 'KraftletTerminating', message });
  }

  /** @returns how many of this kind were still there */
  async #remove(
    { identity }: ClaimInHand,
    resource: Resource<KubeObject>,
    namespace: string,
  ): Promise<number> {
    const labelSelector = `${labels.claimUid}=${identity.claimUid}`;
    const scope = resource.namespaced ? { namespace, labelSelector } : { labelSelector };
    const { items } = await this.#client.list(resource, scope);
    await Promise.all(items.map((object) => this.#delete(resource, object)));
    return items.length;
  }

  async #delete(resource: Resource<KubeObject>, { metadata }: Live<KubeObject>): Promise<void> {
    if (metadata.deletionTimestamp !== undefined) return;
    const { namespace, name, uid } = metadata;
    const key = namespace === undefined ? { name } : { namespace, name };
    const options = { uid, propagationPolicy: 'Background' } as const;
    await this.#client.delete(resource, key, options).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
