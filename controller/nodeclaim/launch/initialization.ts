import type { KubeClient } from '#kube/client/client.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';

import type { Freshest } from '../../freshest.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';
import type { CapacityCheck } from './capacity-check.ts';
import { lackOf } from './node-lack.ts';

/**
 * A Node counts as capacity from here on: it is Ready, open, and advertises everything that was asked of it. What it
 * advertises is what the next one of its size is expected to.
 *
 * Source: Karpenter v1.15, pkg/controllers/nodeclaim/lifecycle/initialization.go.
 */
export class Initialization implements Step {
  readonly condition = 'Initialized';
  readonly #client: KubeClient;
  readonly #nodes: Freshest<Node>;
  readonly #capacity: CapacityCheck;

  constructor(client: KubeClient, freshNodes: Freshest<Node>, capacity: CapacityCheck) {
    this.#client = client;
    this.#nodes = freshNodes;
    this.#capacity = capacity;
  }

  async run(hand: ClaimInHand): Promise<Outcome> {
    const node = this.#nodes.get(hand.status.nodeName ?? '');
    if (!node) return wait({ reason: 'NodeNotFound', message: 'The Node is not there (any more)' });
    const lacking = lackOf(hand, node);
    if (lacking) return lacking;
    await this.#capacity.advertised(hand, node);
    await this.#label(node);
    hand.status.capacity = node.status?.capacity ?? {};
    hand.status.allocatable = node.status?.allocatable ?? {};
    return done();
  }

  async #label(node: Live<Node>): Promise<void> {
    const { name, labels: present } = node.metadata;
    if (present?.[labels.initialized] === 'true') return;
    const body = { metadata: { labels: { [labels.initialized]: 'true' } } };
    this.#nodes.wrote(await this.#client.patch(nodes, { name }, { type: 'merge', body }));
  }
}
