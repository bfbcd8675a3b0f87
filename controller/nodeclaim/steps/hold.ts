import { isNotFound } from '#kube/client/errors.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { finalizers } from '#schemas/names.ts';

import type { ClaimInHand } from './claim-in-hand.ts';
import type { ClaimWriter } from './claim-writer.ts';

/** Whether a claim stays until all that was made for it is gone. */
export function isHeld({ metadata }: Live<NodeClaim>): boolean {
  return (metadata.finalizers ?? []).includes(finalizers.termination);
}

/** A claim made by hand has no finalizer yet; without it a deletion would leave its machine behind. */
export async function hold(hand: ClaimInHand, writer: ClaimWriter): Promise<void> {
  if (isHeld(hand.claim)) return;
  const present = hand.claim.metadata.finalizers ?? [];
  await writer.stamp(hand, { finalizers: [...present, finalizers.termination] });
}

/** Lets it go; so may somebody else have done in the same moment. */
export async function letGo(hand: ClaimInHand, writer: ClaimWriter): Promise<void> {
  const present = hand.claim.metadata.finalizers ?? [];
  const kept = present.filter((one) => one !== finalizers.termination);
  await writer.stamp(hand, { finalizers: kept }).catch(ignoreGone);
}

/** For writes to a claim that may be no more. */
export function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
