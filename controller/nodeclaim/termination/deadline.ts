import type { NodeClaim } from '#schemas/karpenter/types.ts';
import { annotations } from '#schemas/names.ts';
import type { Clock, Instant } from '#schemas/time/clock.ts';
import { parseDuration } from '#schemas/time/duration.ts';
import { toTimestamp } from '#schemas/time/system-clock.ts';

/** When drain stops asking; undefined: it waits for ever. */
export function deadlineOf(claim: NodeClaim, clock: Clock): Instant | undefined {
  const stamped = claim.metadata?.annotations?.[annotations.terminationTimestamp];
  if (stamped === undefined) return undefined;
  const at = clock.from(stamped);
  return Number.isNaN(at) ? undefined : at;
}

/**
 * What the annotation is to say: the real time of deletion plus terminationGracePeriod. It is stamped once, so that
 * a later change of the pool neither hastens nor delays a drain that has begun.
 */
export function terminationTimestamp({ metadata, spec }: NodeClaim): string | undefined {
  if (spec.terminationGracePeriod === undefined || !metadata?.deletionTimestamp) return undefined;
  const grace = parseDuration(spec.terminationGracePeriod);
  if (!Number.isFinite(grace)) return undefined;
  return toTimestamp(Date.parse(metadata.deletionTimestamp) + grace);
}
