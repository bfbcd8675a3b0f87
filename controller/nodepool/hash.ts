import type { NodePool } from '#schemas/karpenter/types.ts';
import { parseDuration } from '#schemas/time/duration.ts';

import { asSet, fingerprint } from '../hash.ts';

/**
 * Version of the way the hash is made, with a name of its own so that no other Karpenter provider takes our hashes
 * for its own. Change it whenever {@link nodePoolHash} would give another value for the same template: claims are
 * then stamped anew instead of being replaced.
 */
export const hashVersion = 'unikraft-v1';

/**
 * What a NodePool's template says about its machines, as one value that changes when they would have to be replaced.
 *
 * It covers labels, annotations, taints, startup taints, node class, expiry and termination grace; not requirements,
 * which are compared with each machine itself, and not disruption, limits or weight. Taints are sets, absent equals
 * the default, durations count by value.
 *
 * Source: Karpenter v1.15, pkg/apis/v1/nodepool.go (Hash), which has the same scope.
 */
export function nodePoolHash(pool: NodePool): string {
  const { metadata, spec } = pool.spec.template;
  return fingerprint(
    {
      labels: metadata?.labels,
      annotations: metadata?.annotations,
      taints: asSet(spec.taints),
      startupTaints: asSet(spec.startupTaints),
      nodeClassRef: spec.nodeClassRef,
      expireAfter: byValue(spec.expireAfter ?? '720h'),
      terminationGracePeriod: spec.terminationGracePeriod && byValue(spec.terminationGracePeriod),
    },
    20,
  );
}

/** Milliseconds as text; what cannot be read stands for itself. */
function byValue(duration: string): string {
  try {
    return String(parseDuration(duration));
  } catch {
    return duration;
  }
}
