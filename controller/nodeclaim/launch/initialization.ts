import type { KubeClient } from '#kube/client/client.ts';
import type { Node, Taint } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import type { Freshest } from '../../freshest.ts';
import type { ClaimInHand } from '../claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../step.ts';

/** Taints that Kubernetes takes off by itself once a node works. */
const ephemeral: ReadonlySet<string> = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.cloudprovider.kubernetes.io/uninitialized',
]);
/** Those of the node readiness controller, which are named by whoever writes its rules. */
const readiness = 'readiness.k8s.io/';

/**
 * A Node counts as capacity from here on: it is Ready, open, and advertises everything that was asked of it.
 *
 * Source: Karpenter v1.15, pkg/controllers/nodeclaim/lifecycle/initialization.go.
 */
export class Initialization implements Step {
  readonly condition = 'Initialized';
  readonly #client: KubeClient;
  readonly #nodes: Freshest<Node>;

  constructor(client: KubeClient, freshNodes: Freshest<Node>) {
    this.#client = client;
    this.#nodes = freshNodes;
  }

  async run(hand: ClaimInHand): Promise<Outcome> {
    const node = this.#nodes.get(hand.status.nodeName ?? '');
    if (!node) return wait({ reason: 'NodeNotFound', message: 'The Node is not there (any more)' });
    const lacking = lackOf(hand, node);
    if (lacking) return lacking;
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

function lackOf(hand: ClaimInHand, node: Node): Outcome | undefined {
  return (
    notReady(node) ?? startupTaint(hand, node) ?? ephemeralTaint(node) ?? unadvertised(hand, node)
  );
}

function notReady(node: Node): Outcome | undefined {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return undefined;
  return wait({
    reason: 'NodeNotReady',
    message: `Waiting until Node ${node.metadata?.name} is Ready`,
  });
}

function startupTaint({ claim }: ClaimInHand, node: Node): Outcome | undefined {
  const left = (claim.spec.startupTaints ?? []).find((startup) => has(node, startup));
  if (!left) return undefined;
  const message = `Waiting until startup taint ${left.key}:${left.effect} is removed`;
  return wait({ reason: 'StartupTaintsExist', message });
}

function ephemeralTaint(node: Node): Outcome | undefined {
  const left = node.spec?.taints?.find(
    ({ key }) => ephemeral.has(key) || key.startsWith(readiness),
  );
  if (!left) return undefined;
  return wait({
    reason: 'KnownEphemeralTaintsExist',
    message: `Waiting until taint ${left.key}:${left.effect} is removed`,
  });
}

function unadvertised({ claim }: ClaimInHand, node: Node): Outcome | undefined {
  const missing = Object.entries(claim.spec.resources?.requests ?? {}).find(
    ([name, asked]) =>
      !Quantity.parse(asked).isZero() &&
      Quantity.parse(node.status?.allocatable?.[name] ?? '0').isZero(),
  );
  if (!missing) return undefined;
  const message = `Waiting until the Node advertises ${missing[0]}, which its Pods ask for`;
  return wait({ reason: 'ResourceNotRegistered', message });
}

function has(node: Node, { key, effect }: Taint): boolean {
  return (node.spec?.taints ?? []).some((taint) => taint.key === key && taint.effect === effect);
}
