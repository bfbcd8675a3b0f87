import { isTrue } from '#kube/conditions.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { wait, type Outcome } from '../steps/step.ts';
import { has, startupTaints } from './claim-taints.ts';

const notReadyTaint = 'node.kubernetes.io/not-ready';
const oldOs = 'beta.kubernetes.io/os';
/** Taints that Kubernetes takes off by itself once a node works. */
const ephemeral: ReadonlySet<string> = new Set([
  notReadyTaint,
  'node.kubernetes.io/unreachable',
  'node.cloudprovider.kubernetes.io/uninitialized',
]);
/** Those of the node readiness controller, which are named by whoever writes its rules. */
const readiness = 'readiness.k8s.io/';

/**
 * What a Node still lacks to count as capacity; undefined when nothing.
 *
 * Source: Karpenter v1.15, pkg/controllers/nodeclaim/lifecycle/initialization.go.
 */
export function lackOf(hand: ClaimInHand, node: Node): Outcome | undefined {
  return (
    notReady(node) ?? startupTaint(hand, node) ?? ephemeralTaint(node) ?? unadvertised(hand, node)
  );
}

/**
 * Whether Kubernetes is still putting a new Node in order: once it is Ready, the taint of its birth goes, and the old
 * names of its labels come.
 *
 * Source: Kubernetes, pkg/controller/nodelifecycle, labelReconcileInfo.
 */
export function isSettling(node: Node): boolean {
  if (!isReady(node)) return false;
  const { labels: present = {} } = node.metadata ?? {};
  const isTainted = (node.spec?.taints ?? []).some(({ key }) => key === notReadyTaint);
  return isTainted || (Object.hasOwn(present, labels.os) && !Object.hasOwn(present, oldOs));
}

function notReady(node: Node): Outcome | undefined {
  if (isReady(node)) return undefined;
  return wait({
    reason: 'NodeNotReady',
    message: `Waiting until Node ${node.metadata?.name} is Ready`,
  });
}

function startupTaint({ claim }: ClaimInHand, node: Node): Outcome | undefined {
  const present = node.spec?.taints ?? [];
  const left = startupTaints(claim).find((startup) => has(present, startup));
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

function isReady({ status }: Node): boolean {
  return isTrue(status?.conditions, 'Ready');
}
