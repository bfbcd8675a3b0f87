import type { KubeClient } from '#kube/client/client.ts';
import { byOldNames } from '#scheduling/requirements.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import type { Node, Taint } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf, nodes } from '#schemas/kubernetes/resource.ts';
import { annotations, finalizers, labels, taints } from '#schemas/names.ts';
import { seconds, type Clock } from '#schemas/time/clock.ts';

import { by, type Caches } from '../../caches.ts';
import type { Freshest } from '../../freshest.ts';
import type { Nominations } from '../../provisioning/nominations.ts';
import { isOpen } from '../machine/machine-nodes.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';
import { has, lastingTaints, startupTaints } from './claim-taints.ts';
import { isSettling, lackOf } from './node-lack.ts';

/**
 * Several controllers of Kubernetes write to a new Node. A patch in between would lose to theirs and have to come
 * again, so it waits for the last of them, which comes within a second, and for so long at most.
 */
const settled = seconds(3);

/** Annotations of the claim that are about the claim itself. */
const claimsOwn = new Set<string>([
  annotations.intent,
  annotations.madeFor,
  annotations.terminationTimestamp,
]);

/**
 * Makes the Node that Kraftlet registered ours and opens it, in one patch: finalizer, owner, the claim's labels,
 * and the vendor's and the pool's taints in place of the unregistered one. Before it opens, the Pods that were
 * planned for it are nominated, so that kube-scheduler binds them as planned. A Node that lacks nothing more is
 * labelled as initialised by the same patch.
 *
 * Source: Karpenter v1.15, pkg/controllers/nodeclaim/lifecycle/registration.go.
 */
export class Registration implements Step {
  readonly condition = 'Registered';
  readonly #client: KubeClient;
  readonly #caches: Caches;
  readonly #nodes: Freshest<Node>;
  readonly #nominations: Nominations;
  readonly #clock: Clock;

  constructor(
    client: KubeClient,
    caches: Caches,
    freshNodes: Freshest<Node>,
    nominations: Nominations,
    clock: Clock,
  ) {
    this.#client = client;
    this.#caches = caches;
    this.#nodes = freshNodes;
    this.#nominations = nominations;
    this.#clock = clock;
  }

  async run(hand: ClaimInHand): Promise<Outcome> {
    const found = this.#caches.nodes.by(by.providerID, hand.status.providerID ?? '');
    const [node] = found;
    const notYet = { reason: 'NodeNotFound', message: 'Waiting for Kraftlet to register the Node' };
    if (!node) return wait(notYet);
    if (found.length > 1) {
      const names = found.map(({ metadata }) => metadata.name).toSorted();
      const message = `More than one Node has this provider ID: ${names.join(', ')} (KPU329)`;
      return wait({ reason: 'MultipleNodesFound', message, status: 'False', failed: true });
    }
    if (this.#isYoung(node) && isSettling(node)) return wait({ ...notYet, after: seconds(1) });
    hand.status.nodeName = node.metadata.name;
    if (isRegistered(node)) return done(); // by a pass whose end was lost: what was taken off since stays off
    await this.#nominations.nominate(hand.identity.claim, node.metadata.name);
    await this.#open(hand, node);
    return done();
  }

  #isYoung({ metadata }: Live<Node>): boolean {
    const created = this.#clock.from(metadata.creationTimestamp ?? this.#clock.stamp());
    return this.#clock.now() - created < settled;
  }

  async #open(hand: ClaimInHand, node: Live<Node>): Promise<void> {
    const { name, resourceVersion } = node.metadata;
    const open = { ...node, spec: { ...node.spec, taints: openTaints(hand, node) } };
    const body = {
      metadata: { resourceVersion, ...ownMetadata(hand, open) },
      spec: { taints: open.spec.taints },
    };
    this.#nodes.wrote(await this.#client.patch(nodes, { name }, { type: 'merge', body }));
  }
}

function isRegistered(node: Live<Node>): boolean {
  const { labels: present, finalizers: held = [] } = node.metadata;
  const isOurs = present?.[labels.registered] === 'true' && held.includes(finalizers.termination);
  return isOurs && isOpen(node);
}

/** @param node with the taints that it is to have */
function ownMetadata(hand: ClaimInHand, node: Live<Node>): Live<Node>['metadata'] | object {
  const { claim } = hand;
  const { name, uid } = claim.metadata;
  const owner = { apiVersion: apiVersionOf(nodeClaims), kind: nodeClaims.kind, name, uid };
  const inherited = Object.entries(claim.metadata.annotations ?? {}).filter(
    ([key]) => !claimsOwn.has(key),
  );
  return {
    labels: {
      ...byOldNames(claim.metadata.labels),
      ...claim.metadata.labels,
      [labels.registered]: 'true',
      ...(lackOf(hand, node) === undefined && { [labels.initialized]: 'true' }),
    },
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
 * taints are the same when key and effect are. The one it was born with goes whatever its effect is.
 */
function openTaints({ claim }: ClaimInHand, node: Live<Node>): Taint[] {
  const kept = (node.spec?.taints ?? []).filter(({ key }) => key !== taints.unregistered.key);
  const wanted = [...lastingTaints(claim), ...startupTaints(claim)];
  return [...kept, ...wanted.filter((taint) => !has(kept, taint))];
}
