import type { EventNote } from '#kube/runtime/events.ts';
import type { UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { minutes } from '#schemas/time/clock.ts';

import type { Trouble } from './trouble.ts';

export function revisionReady(
  nodeClass: UnikraftNodeClass,
  name: string,
  number: number,
): EventNote {
  return {
    object: nodeClass,
    type: 'Normal',
    reason: 'RevisionReady',
    message: `Revision ${number} (${name}) can be used; new machines are made from it`,
  };
}

/** One event per kind of trouble and ten minutes; the condition tells the rest. */
export function troubled(
  nodeClass: UnikraftNodeClass,
  { condition, reason, message }: Pick<Trouble, 'condition' | 'reason' | 'message'>,
): EventNote {
  return {
    object: nodeClass,
    type: 'Warning',
    reason,
    message,
    dedupeValues: [condition, String(nodeClass.metadata?.generation ?? 0)],
    dedupeTimeout: minutes(10),
  };
}

/** That a deletion waits, for what, and the way out. */
export function stillInUse(nodeClass: UnikraftNodeClass, message: string): EventNote {
  return {
    object: nodeClass,
    type: 'Warning',
    reason: 'WaitingForNodeClaims',
    message,
    dedupeValues: [],
    dedupeTimeout: minutes(10),
  };
}
