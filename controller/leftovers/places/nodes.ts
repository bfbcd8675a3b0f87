import { getCondition } from '#kube/conditions.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { group, labels, nodeClassKind } from '#schemas/names.ts';
import { parseProviderID } from '#schemas/provider-id.ts';

import type { Context } from '../../context.ts';
import { ClaimInHand } from '../../nodeclaim/steps/claim-in-hand.ts';
import type { Step } from '../../nodeclaim/steps/step.ts';
import { NodeReleased } from '../../nodeclaim/termination/node-released.ts';
import { PodsReleased } from '../../nodeclaim/termination/pods-released.ts';
import type { Found, Outcome, Place } from '../place.ts';

interface FoundNode extends Found {
  readonly node: Live<Node>;
}

/**
 * Nodes of machines, with the Pods that Kraftlet's finalizer holds on them: nobody else would ever take it off. That
 * needs the proof that the instance is gone, or a StatefulSet's Pod would run twice: its region was listed in this very
 * round, in every account that its class leads to there, shows nothing of the claim, and the Node is not Ready.
 */
export class NodesThere implements Place<FoundNode> {
  readonly kind = 'node';
  readonly name = 'nodes of machines';
  readonly needs = 'instance';
  readonly #context: Context;
  readonly #regions: ReadonlySet<string>;
  readonly #steps: readonly Step[];

  /** @param regions  those that are listed, by class: `default aws eu-central-1` */
  constructor(context: Context, regions: ReadonlySet<string>) {
    const { client, caches, clock } = context;
    this.#context = context;
    this.#regions = regions;
    this.#steps = [new PodsReleased(client, caches, clock), new NodeReleased(client, caches)];
  }

  async list(signal: AbortSignal): Promise<readonly FoundNode[]> {
    const { client } = this.#context;
    const { items } = await client.list(nodes, { labelSelector: labels.claimUid, signal });
    return items.map((node) => this.#foundOf(node));
  }

  /** The last two steps of a machine's end, as its claim would have taken them. */
  async remove({ node }: FoundNode, signal: AbortSignal): Promise<Outcome> {
    const { clock, clusterUid } = this.#context;
    const hand = new ClaimInHand(claimOf(node), undefined, clusterUid, clock);
    for (const step of this.#steps) {
      // oxlint-disable-next-line no-await-in-loop -- Pods first
      const outcome = await step.run(hand, signal);
      if (outcome.kind !== 'done') return 'going';
    }
    return 'gone';
  }

  #foundOf(node: Live<Node>): FoundNode {
    const { name, uid, labels: own = {} } = node.metadata;
    const providerID = node.spec?.providerID ?? '';
    return {
      id: uid,
      claimUid: own[labels.claimUid] ?? '',
      providerID,
      nodeClass: own[labels.nodeClass],
      about: `${name}, ${isReady(node) ? 'Ready' : 'not Ready'}`,
      node,
      ...((isReady(node) || !this.#isListed(node)) && { isBusy: true }),
    };
  }

  #isListed({ metadata, spec }: Node): boolean {
    const nodeClass = metadata?.labels?.[labels.nodeClass];
    const place = parseProviderID(spec?.providerID ?? '');
    return place !== undefined && this.#regions.has(`${nodeClass} ${place.cloud} ${place.region}`);
  }
}

function isReady({ status }: Node): boolean {
  return getCondition(status?.conditions, 'Ready')?.status === 'True';
}

/** What is known of the claim that the Node was made for. */
function claimOf({ metadata, spec }: Live<Node>): Live<NodeClaim> {
  const { name, labels: own = {} } = metadata;
  return {
    metadata: { name, uid: own[labels.claimUid] ?? '', resourceVersion: '', labels: own },
    spec: {
      nodeClassRef: { group, kind: nodeClassKind, name: own[labels.nodeClass] ?? '' },
      requirements: [],
    },
    status: {
      nodeName: name,
      ...(spec?.providerID !== undefined && { providerID: spec.providerID }),
    },
  } as Live<NodeClaim>;
}
