import type { Pod, Toleration } from '#schemas/kubernetes/core.ts';
import { annotations, taints } from '#schemas/names.ts';
import { minutes, seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

/** A Pod this long past its end is stuck; its machine's end will free it. */
const stuck = minutes(1);
const defaultGrace = seconds(30);

/**
 * Whether a Pod keeps its Node from being emptied: it is alive, it would not stay on a disrupted Node by its own
 * wish, and it is not stuck in termination.
 */
export function isInTheWay(pod: Pod, clock: Clock): boolean {
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return false;
  if (isStatic(pod) || toleratesDisruption(pod) || isDaemon(pod)) return false;
  const end = pod.metadata?.deletionTimestamp;
  return end === undefined || clock.now() - clock.from(end) <= stuck;
}

/** Held by its owner's wish until the claim's deadline. */
export function isHeld(pod: Pod): boolean {
  return pod.metadata?.annotations?.[annotations.doNotDisrupt] === 'true';
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

function toleratesDisruption(pod: Pod): boolean {
  return (pod.spec?.tolerations ?? []).some(covers);
}

function covers({ key, effect }: Toleration): boolean {
  const { disrupted } = taints;
  const sameKey = key === undefined || key === '' || key === disrupted.key;
  return sameKey && (effect === undefined || effect === disrupted.effect);
}
