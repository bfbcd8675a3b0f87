import type { KubeClient } from '#kube/client/client.ts';
import { isNotFound } from '#kube/client/errors.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';

import type { ClaimInHand } from './claim-in-hand.ts';

/** A claim that leaves has its release taken down, and a cache may not have heard of it. */
export async function isStillWanted(
  client: KubeClient,
  { identity }: ClaimInHand,
  signal: AbortSignal,
): Promise<boolean> {
  const claim = await client.get(nodeClaims, { name: identity.claim }, { signal }).catch(absent);
  return (
    claim?.metadata.uid === identity.claimUid && claim.metadata.deletionTimestamp === undefined
  );
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
