import { tolerates } from '#scheduling/taints.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import { taints } from '#schemas/names.ts';
import { minutes, seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

/** A Pod this long past its end is stuck; its machine's end will free it. */
const tooLong = minutes(1);
const defaultGrace = seconds(30);

/**
 * Whether a Pod keeps its Node from being emptied: it is alive, it would not stay on a disrupted Node by its own
 * wish, and it is not stuck in termination. Pods of a DaemonSet would be made again at once, so they stay.
 */
export function isInTheWay(pod: Pod, clock: Clock): boolean {
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return false;
  return !isStatic(pod) && !toleratesDisruption(pod) && !isDaemon(pod) && !isStuck(pod, clock);
}

/** Its end, which is its deletion plus its grace period, is long past. */
export function isStuck({ metadata }: Pod, clock: Clock): boolean {
  const end = metadata?.deletionTimestamp;
  return end !== undefined && clock.now() - clock.from(end) > tooLong;
}

export function graceOf(pod: Pod): Duration {
  const own = pod.spec?.terminationGracePeriodSeconds;
  return own === undefined ? defaultGrace : seconds(own);
}

function isStatic(pod: Pod): boolean {
  return pod.metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined;
}

function isDaemon(pod: Pod): boolean {
  return (pod.metadata?.ownerReferences ?? []).some(({ kind }) => kind === 'DaemonSet');
}

function toleratesDisruption({ spec }: Pod): boolean {
  return (spec?.tolerations ?? []).some((toleration) => tolerates(toleration, taints.disrupted));
}
