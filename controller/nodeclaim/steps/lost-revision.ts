import { seconds } from '#schemas/time/clock.ts';

import type { ClaimInHand } from './claim-in-hand.ts';

/** Until somebody may have restored it. */
export const missing = seconds(30);

/** There may be a machine, and the revision that says where it is has been deleted by hand. */
export function isRevisionLost(hand: ClaimInHand): boolean {
  return hand.mayHaveMachine && hand.stamped !== undefined && !hand.revision;
}

/** What people read of it, in conditions and events. */
export function lostRevision({ stamped, identity }: ClaimInHand): {
  reason: string;
  message: string;
} {
  const message =
    `ControllerRevision ${stamped} is gone, so the machine cannot be found; restore it, or end the ` +
    `instance tagged with ${identity.claimUid} by hand and remove the finalizer (KPU334)`;
  return { reason: 'RevisionMissing', message };
}
