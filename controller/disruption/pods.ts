import type { Pod } from '#schemas/kubernetes/core.ts';
import { annotations } from '#schemas/names.ts';

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

/** Whether a machine is not empty because of this Pod. A Pod that is ending still runs, so it counts. */
export function keepsMachine(pod: Pod): boolean {
  return !isTerminal(pod) && !isOfTheNode(pod);
}

/** Asks that the machine stays, whosever Pod it is. */
export function forbidsDisruption(pod: Pod): boolean {
  return !isTerminal(pod) && pod.metadata?.annotations?.[annotations.doNotDisrupt] === 'true';
}
