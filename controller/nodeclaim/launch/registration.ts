import type { KubeClient } from '#kube/client/client.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import type { Node, Taint } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf, nodes } from '#schemas/kubernetes/resource.ts';
import { annotations, finalizers, labels, taints } from '#schemas/names.ts';

import { by, type Caches } from '../../caches.ts';
import type { Freshest } from '../../freshest.ts';
import type { Nominations } from '../../provisioning/nominations.ts';
import type { ClaimInHand } from '../claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../step.ts';

/** Annotations of the claim that are about the claim itself. */
const claimsOwn = new Set<string>([annotations.intent, annotations.terminationTimestamp]);

/**
 * Makes the Node that Kraftlet registered ours and opens it, in one patch: finalizer, owner, the claim's labels,
 * and the vendor's and the pool's taints in place of the unregistered one. Before it opens, the Pods that were
 * planned for it are nominated, so that kube-scheduler binds them as planned.
 *
 * Source: Karpenter v1.15, pkg/controllers/nodeclaim/lifecycle/registration.go.
 */
export class Registration implements Step {
  readonly condition = 'Registered';
  readonly #client: KubeClient;
  readonly #caches: Caches;
  readonly #nodes: Freshest<Node>;
  readonly #nominations: Nominations;

  constructor(
    client: KubeClient,
    caches: Caches,
    freshNodes: Freshest<Node>,
    nominations: Nominations,
  ) {
    this.#client = client;
    this.#caches = caches;
    this.#nodes = freshNodes;
    this.#nominations = nominations;
  }

  async run(hand: ClaimInHand): Promise<Outcome> {
    const found = this.#caches.nodes.by(by.providerID, hand.status.providerID ?? '');
    const [node] = found;
    if (!node) {
      return wait({ reason: 'NodeNotFound', message: 'Waiting for Kraftlet to register the Node' });
    }
    if (found.length > 1) {
      const names = found.map(({ metadata }) => metadata.name).toSorted();
      const message = `More than one Node has this provider ID: ${names.join(', ')}`;
      return wait({ reason: 'MultipleNodesFound', message, status: 'False' });
    }
    hand.status.nodeName = node.metadata.name;
    await this.#nominations.nominate(hand.identity.claim, node.metadata.name);
    await this.#open(hand, node);
    return done();
  }

  async #open(hand: ClaimInHand, node: Live<Node>): Promise<void> {
    const { name, resourceVersion } = node.metadata;
    const body = {
      metadata: { resourceVersion, ...ownMetadata(hand, node) },
      spec: { taints: openTaints(hand, node) },
    };
    this.#nodes.wrote(await this.#client.patch(nodes, { name }, { type: 'merge', body }));
  }
}

function ownMetadata({ claim }: ClaimInHand, node: Live<Node>): Live<Node>['metadata'] | object {
  const { name, uid } = claim.metadata;
  const owner = { apiVersion: apiVersionOf(nodeClaims), kind: nodeClaims.kind, name, uid };
  const inherited = Object.entries(claim.metadata.annotations ?? {}).filter(
    ([key]) => !claimsOwn.has(key),
  );
  return {
    labels: { ...claim.metadata.labels, [labels.registered]: 'true' },
    annotations: Object.fromEntries(inherited),
    finalizers: [...new Set([...(node.metadata.finalizers ?? []), finalizers.termination])],
    ownerReferences: [
      ...(node.metadata.ownerReferences ?? []).filter((other) => other.uid !== uid),
      { ...owner, blockOwnerDeletion: true },
    ],
  };
}

/**
 * The list is replaced whole, so everything that others put there (not-ready at birth, a person's cordon) is kept;
 * taints are the same when key and effect are.
 */
function openTaints({ claim }: ClaimInHand, node: Live<Node>): Taint[] {
  const wanted: readonly Taint[] = [
    taints.kraftlet,
    ...(claim.spec.taints ?? []),
    ...(claim.spec.startupTaints ?? []),
  ];
  const kept = (node.spec?.taints ?? []).filter((taint) => !same(taint, taints.unregistered));
  return [...kept, ...wanted.filter((taint) => !kept.some((other) => same(other, taint)))];
}

function same(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}
