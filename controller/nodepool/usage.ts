/**
 * What a NodePool's machines add up to: status.resources and status.nodes.
 *
 * A Node's own capacity counts once it is there, what its claim predicted until then, so that the sum never dips
 * while a machine is on its way. Machines that are leaving count until they are gone: they are still paid for.
 *
 * Source: Karpenter v1.15, pkg/controllers/nodepool/counter.
 */
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { addResources } from '#schemas/quantity/resources.ts';

import { by, type Caches } from '../caches.ts';
import { isOurs } from '../ours.ts';

/** Always there, so that a column never shows nothing and a pool without machines has a whole status. */
const nothing: ResourceList = { cpu: '0', 'ephemeral-storage': '0', memory: '0', pods: '0' };

export function usageOf(
  pool: string,
  caches: Pick<Caches, 'nodeClaims' | 'nodes'>,
): Required<Pick<NonNullable<NodePool['status']>, 'nodes' | 'resources'>> {
  const claims = caches.nodeClaims.by(by.nodePool, pool).filter(isOurs);
  const capacities = claims.map((claim) => capacityOf(claim, caches));
  const nodes = claims.length;
  return { nodes, resources: { ...addResources(nothing, ...capacities), nodes: String(nodes) } };
}

function capacityOf({ status }: NodeClaim, { nodes }: Pick<Caches, 'nodes'>): ResourceList {
  const [node] = status?.providerID ? nodes.by(by.providerID, status.providerID) : [];
  return node?.status?.capacity ?? status?.capacity ?? {};
}
