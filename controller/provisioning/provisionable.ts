/**
 * Which Pods are ours to find a machine for.
 *
 * Source: Karpenter v1.15, pkg/utils/pod/scheduling.go, with two differences: a nomination hides a Pod only while
 * it is live (see live-nomination.ts), and Pods that could never be on our Nodes are left out.
 */
import { tolerates } from '#scheduling/taints.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Condition } from '#schemas/kubernetes/meta.ts';
import { labels, taints } from '#schemas/names.ts';

/**
 * Whether kube-scheduler gave a Pod up for now and a machine of ours could change that.
 *
 * @param isLive  whether a nomination for the Node of this name will still come true
 */
export function isProvisionable(pod: Pod, isLive: (nodeName: string) => boolean): boolean {
  return (
    isGivenUp(pod) &&
    !isOwnedBy(pod, 'DaemonSet', 'Node') &&
    !isLive(pod.status?.nominatedNodeName ?? '') &&
    toleratesOurs(pod)
  );
}

/** Whether the Pod's author meant our Nodes, and not just any: it names Kraftlet's taint or label. */
export function isAimed({ spec }: Pod): boolean {
  return (
    Object.hasOwn(spec?.nodeSelector ?? {}, labels.virtualKubelet) ||
    (spec?.tolerations ?? []).some(({ key }) => key === taints.kraftlet.key)
  );
}

export function isOwnedBy({ metadata }: Pod, ...kinds: readonly string[]): boolean {
  return (metadata?.ownerReferences ?? []).some(({ kind }) => kinds.includes(kind));
}

/** Succeeded and failed Pods take no room. */
export function isTerminal({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** kube-scheduler found no Node for it. */
export function isGivenUp(pod: Pod): boolean {
  return isOpen(pod) && (pod.status?.conditions ?? []).some(isUnschedulable);
}

/** Neither bound nor ended nor held back by a gate. */
function isOpen(pod: Pod): boolean {
  const { metadata, spec } = pod;
  const isGated = (spec?.schedulingGates ?? []).length > 0;
  return (
    !spec?.nodeName && metadata?.deletionTimestamp === undefined && !isTerminal(pod) && !isGated
  );
}

function isUnschedulable({ type, status, reason }: Condition): boolean {
  return type === 'PodScheduled' && status === 'False' && reason === 'Unschedulable';
}

function toleratesOurs({ spec }: Pod): boolean {
  return (spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taints.kraftlet));
}
