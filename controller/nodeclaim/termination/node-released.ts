import type { KubeClient } from '#kube/client/client.ts';
import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { finalizers } from '#schemas/names.ts';

import type { Caches } from '../../caches.ts';
import { isMadeFor, nodeNameOf, nodesOf } from '../machine/machine-nodes.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';

/** Removes the Node, which Kraftlet may not do itself, and our hold on it. */
export class NodeReleased implements Step {
  readonly #client: KubeClient;
  readonly #caches: Caches;

  constructor(client: KubeClient, caches: Caches) {
    this.#client = client;
    this.#caches = caches;
  }

  async run(hand: ClaimInHand): Promise<Outcome> {
    if (!hand.mayHaveMachine) return done();
    const cached = nodesOf(this.#caches, hand);
    const found = cached.length > 0 ? cached : await this.#live(hand);
    if (found.length === 0) return done();
    await Promise.all(found.map(async (node) => this.#remove(node)));
    const message = `Waiting until Node ${found.map(({ metadata }) => metadata.name).join(', ')} is gone`;
    return wait({ after: 500, reason: 'NodeTerminating', message });
  }

  /** The cache may be late with a Node that Kraftlet made last, so the last word is the API server's. */
  async #live(hand: ClaimInHand): Promise<Live<Node>[]> {
    const node = await this.#client
      .get(nodes, { name: nodeNameOf(hand) })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return undefined;
      });
    return node && isMadeFor(node, hand) ? [node] : [];
  }

  async #remove({ metadata }: Live<Node>): Promise<void> {
    const { name, uid, resourceVersion, finalizers: present = [], deletionTimestamp } = metadata;
    const kept = present.filter((one) => one !== finalizers.termination);
    try {
      if (deletionTimestamp === undefined)
        return await this.#client.delete(nodes, { name }, { uid });
      if (kept.length === present.length) return; // somebody else holds it
      const body = { metadata: { resourceVersion, finalizers: kept } };
      await this.#client.patch(nodes, { name }, { type: 'merge', body });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error; // gone, or changed: looked at again
    }
  }
}
