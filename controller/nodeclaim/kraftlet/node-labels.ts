import { labels } from '#schemas/names.ts';

import type { ClaimInHand } from '../steps/claim-in-hand.ts';

const facts = [
  labels.zone,
  labels.region,
  labels.instanceType,
  labels.instanceFamily,
  labels.instanceVcpus,
  labels.instanceMemory,
  labels.nestedVirtualization,
  labels.nodePool,
  labels.capacityType,
] as const;

/**
 * Labels that a Node carries from birth, given to Kraftlet's chart: facts that never change, so that the first
 * scheduler that sees the Node judges it rightly and every load balancer leaves it alone (no kube-proxy runs there).
 */
export function immutableNodeLabels({ claim, identity }: ClaimInHand): Record<string, string> {
  const own = facts.flatMap((label) => {
    const value = claim.metadata.labels?.[label];
    return value === undefined ? [] : [[label, value] as const];
  });
  return {
    ...Object.fromEntries(own),
    [labels.nodeClass]: identity.nodeClass,
    [labels.claimUid]: identity.claimUid,
    [labels.excludeFromLoadBalancers]: 'true',
  };
}
