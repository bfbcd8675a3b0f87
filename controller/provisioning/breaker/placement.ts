/** Whether a Pod on a machine says that the machine is of use. */
import { getCondition } from '#kube/conditions.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import { minutes, type Clock, type Duration } from '#schemas/time/clock.ts';

/** A Pod that was not taken away within this time has its place. */
export const settled: Duration = minutes(5);

/** What Kraftlet says of a Pod that it has no live memory for. Source: Unikraft's Kubernetes integration page. */
const quotaExceeded = 'QuotaExceeded';

export function isSettled(pod: Pod, clock: Clock): boolean {
  const { metadata, status } = pod;
  const scheduled = getCondition(status?.conditions, 'PodScheduled');
  const stamp = scheduled?.lastTransitionTime ?? metadata?.creationTimestamp;
  return stamp !== undefined && clock.now() - clock.from(stamp) >= settled;
}

/** Whether Pods came or went long after the machine opened, as it says also to a leader that did not see them. */
export function hadPods(status: NodeClaim['status'], clock: Clock): boolean {
  const opened = getCondition(status?.conditions, 'Registered')?.lastTransitionTime;
  const last = status?.lastPodEventTime;
  if (opened === undefined || last === undefined) return false;
  return clock.from(last) - clock.from(opened) >= settled;
}

/**
 * Why a Pod was taken from its machine though it would have stayed: by a taint, by preemption or eviction, or as
 * Kraftlet had no room for it. Undefined for one that ended, or that its owner took back.
 *
 * Source: Kubernetes, condition DisruptionTarget of Pods (1.26 and newer).
 */
export function takenAway({ status }: Pod): string | undefined {
  if (status?.reason === quotaExceeded) {
    return `Kraftlet refused one (${quotaExceeded}): ${status.message ?? 'no room'}`;
  }
  const target = getCondition(status?.conditions, 'DisruptionTarget');
  if (target?.status !== 'True') return undefined;
  return `one was taken away again: ${target.message || target.reason}`;
}
