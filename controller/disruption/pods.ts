import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { asksToStay } from '../do-not-disrupt.ts';
import { isStuck } from '../nodeclaim/termination/drainable.ts';

/** Where the API server says that a Pod only mirrors a file on a node. */
const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Succeeded or Failed: it holds nothing any more. */
export function isTerminal({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Belongs to the node, not to a workload: it comes with every node and never keeps one. */
export function isOfTheNode({ metadata }: Pod): boolean {
  const isMirror = metadata?.annotations?.[mirrorAnnotation] !== undefined;
  const owners = metadata?.ownerReferences ?? [];
  return isMirror || owners.some(({ kind }) => kind === 'DaemonSet' || kind === 'Node');
}

/** What tells whether a Pod can end where it is. */
export interface Surroundings {
  /** A Kraftlet is there, which alone can end its Pods. */
  readonly hasKraftlet: boolean;
  readonly clock: Clock;
}

/**
 * Whether a machine is not empty because of this Pod. A Pod that is ending still runs, so it counts; but not for ever,
 * where no Kraftlet is there to end it: with the machine it ends.
 */
export function keepsMachine(pod: Pod, { hasKraftlet, clock }: Surroundings): boolean {
  if (isTerminal(pod) || isOfTheNode(pod)) return false;
  return hasKraftlet || !isStuck(pod, clock);
}

/** Asks that the machine stays, whosever Pod it is. */
export function forbidsDisruption(pod: Pod, clock: Clock): boolean {
  return !isTerminal(pod) && asksToStay(pod, clock);
}
