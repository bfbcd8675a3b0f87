import type { Node } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { labels, taints } from '#schemas/names.ts';

import { by, type Caches } from '../../caches.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';

/**
 * The Nodes in front of a machine: those with its provider id, and the one with its name that was born with its
 * claim's label, since a crash may have kept the provider id and all that followed from being written.
 */
export function nodesOf({ nodes }: Pick<Caches, 'nodes'>, hand: ClaimInHand): Live<Node>[] {
  const { providerID } = hand.status;
  const found = providerID === undefined ? [] : nodes.by(by.providerID, providerID);
  const named = nodes.get(hand.identity.name);
  const isMore = named && isMadeFor(named, hand) && !found.includes(named);
  return isMore ? [...found, named] : found;
}

export function isMadeFor({ metadata, spec }: Node, { identity, status }: ClaimInHand): boolean {
  return (
    metadata?.labels?.[labels.claimUid] === identity.claimUid ||
    (spec?.providerID !== undefined && spec.providerID === status.providerID)
  );
}

/** Whether the Node may have taken Pods: registration took the taint off that it was born with. */
export function isOpen({ spec }: Node): boolean {
  return !spec?.taints?.some(({ key }) => key === taints.unregistered.key);
}

/** The name that Pods on the machine are bound to. */
export function nodeNameOf({ status, identity }: ClaimInHand): string {
  return status.nodeName ?? identity.name;
}
