import type { EventNote } from '#kube/runtime/events.ts';
import { refusals, type BootstrapRefused } from '#machine/bootstrap/refusal.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { minutes } from '#schemas/time/clock.ts';

import { coded } from '../reason.ts';

/** One event per kind of refusal and ten minutes: whoever calls again and again writes no more. */
export function refusedCall(
  claim: Live<NodeClaim>,
  { kind, message }: BootstrapRefused,
): EventNote {
  const { code, reason } = refusals[kind];
  return {
    object: claim,
    type: 'Warning',
    reason,
    message: coded(`A call for the secrets of the machine was refused: ${message}`, code),
    dedupeValues: [kind],
    dedupeTimeout: minutes(10),
  };
}
