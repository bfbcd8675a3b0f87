import type { DaemonSet, Taint } from '#schemas/kubernetes/core.ts';

import { alternativesOf } from './affinity.ts';
import { plus, toAmounts, type Amounts } from './amounts.ts';
import { podRequests } from './pod-requests.ts';
import { conflictOf, type Requirements } from './requirements.ts';
import { untolerated } from './taints.ts';

/**
 * What the Pods of DaemonSets will take of a node: those that tolerate its taints and accept its labels, as
 * kube-scheduler will judge. A Kraftlet node does not run host software, yet a DaemonSet that tolerates everything
 * is bound to it and takes its room.
 *
 * @param node  what is known of the node's labels; a well-known one that is not known is taken to suit, so that too
 *              much room is kept rather than too little
 */
export function daemonOverhead(
  daemonSets: readonly DaemonSet[],
  node: Requirements,
  taints: readonly Taint[],
): Amounts {
  return daemonSets
    .filter((set) => landsOn(set, node, taints))
    .map((set) => toAmounts(podRequests(set.spec?.template.spec ?? { containers: [] })))
    .reduce(plus, new Map<string, bigint>());
}

function landsOn(
  { metadata, spec }: DaemonSet,
  node: Requirements,
  taints: readonly Taint[],
): boolean {
  if (!spec || metadata?.deletionTimestamp !== undefined) return false;
  const pod = spec.template.spec;
  return (
    !untolerated(taints, pod.tolerations) &&
    alternativesOf(pod).some((asked) => conflictOf(node, asked) === undefined)
  );
}
