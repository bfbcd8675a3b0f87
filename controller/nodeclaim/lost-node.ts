import type { KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';

import type { Freshest } from '../freshest.ts';
import { isOpen } from './machine/machine-nodes.ts';
import type { ClaimInHand } from './steps/claim-in-hand.ts';

/**
 * `kubectl delete node` means the machine, so a claim follows its Node. The Node's finalizer shows the deletion in
 * time; where that was torn off, the Node is missing, or a Kraftlet that started again has made another one, which
 * is closed and would stay so. A cache may only be late, so the last word is the API server's.
 */
export class LostNode {
  readonly #client: KubeClient;
  readonly #nodes: Freshest<Node>;

  constructor(client: KubeClient, freshNodes: Freshest<Node>) {
    this.#client = client;
    this.#nodes = freshNodes;
  }

  async isLost(hand: ClaimInHand, signal: AbortSignal): Promise<boolean> {
    const { nodeName: name } = hand.status;
    if (name === undefined || !hand.is('Registered')) return false;
    if (isOurs(this.#nodes.get(name))) return false;
    const live = await this.#client.get(nodes, { name }, { signal }).catch(absent);
    return !isOurs(live);
  }
}

/** The one that registration opened, and nobody takes away. */
function isOurs(node: Node | undefined): boolean {
  return node !== undefined && node.metadata?.deletionTimestamp === undefined && isOpen(node);
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
