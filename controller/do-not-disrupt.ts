import { getCondition } from '#kube/conditions.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import { annotations } from '#schemas/names.ts';
import type { Clock, Duration } from '#schemas/time/clock.ts';
import { InvalidDuration, parseDuration } from '#schemas/time/duration.ts';

/**
 * Whether a Pod asks to be left where it is: `karpenter.sh/do-not-disrupt` is `true`, or a duration, such as `1h30m`,
 * that it has not run for yet. What is neither says nothing.
 *
 * It runs from when it was bound, which is a moment before the `status.startTime` that upstream counts from: not every
 * kubelet sets that one.
 *
 * Source: Karpenter v1.15, pkg/utils/pod/scheduling.go.
 */
export function asksToStay({ metadata, status }: Pod, clock: Clock): boolean {
  const asked = metadata?.annotations?.[annotations.doNotDisrupt];
  if (asked === undefined) return false;
  if (asked === 'true') return true;
  const bound = getCondition(status?.conditions, 'PodScheduled');
  const since = bound?.status === 'True' ? bound.lastTransitionTime : undefined;
  const lasts = durationOf(asked);
  if (lasts === 0) return false;
  return since === undefined || clock.now() - clock.from(since) < lasts;
}

/** 0 for what is no duration: Go knows no `Never`. */
function durationOf(text: string): Duration {
  if (text === 'Never') return 0;
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof InvalidDuration) return 0;
    throw error;
  }
}
