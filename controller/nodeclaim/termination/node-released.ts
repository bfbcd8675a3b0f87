import type { KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { finalizers } from '#schemas/names.ts';

import { by, type Caches } from '../../caches.ts';
import type { ClaimInHand } from '../claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../step.ts';

/** Removes the Node, which Kraftlet may not do itself, and our hold on it. */
export class NodeReleased implements Step {
  readonly #client: KubeClient;
  readonly #caches: Caches;

  constructor(client: KubeClient, caches: Caches) {
    this.#client = client;
    this.#caches = caches;
  }

  async run(hand: ClaimInHand): Promise<Outcome> {
    const { providerID } = hand.status;
    const found = providerID === undefined ? [] : this.#caches.nodes.by(by.providerID, providerID);
    if (found.length === 0) return done();
    await Promise.all(found.map((node) => this.#remove(node)));
    const message = `Waiting until Node ${found.map(({ metadata }) => metadata.name).join(', ')} is gone`;
    return wait({ after: 500, reason: 'NodeTerminating', message });
  }

  async #remove(node: Live<Node>): Promise<void> {
    const { name, uid } = node.metadata;
    try {
      if (node.metadata.deletionTimestamp === undefined) {
        await this.#client.delete(nodes, { name }, { uid });
      }
      const kept = (node.metadata.finalizers ?? []).filter((one) => one !== finalizers.termination);
      if (kept.length === (node.metadata.finalizers ?? []).length) return;
      const body = { metadata: { finalizers: kept, uid } };
      await this.#client.patch(nodes, { name }, { type: 'merge', body });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
