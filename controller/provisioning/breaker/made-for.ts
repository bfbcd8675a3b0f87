import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations, labels } from '#schemas/names.ts';
import type { Clock } from '#schemas/time/clock.ts';

import type { Launch } from './launches.ts';
import { groupsOf } from './pod-group.ts';

/** A machine for more kinds of Pods than this is not useless to all of them. */
const mostGroups = 32;

/**
 * What a claim says of the Pods that it was made for, so that a leader that has just started knows what the one
 * before it tried: `<generation of the pool> <group> <group> …`.
 */
export function madeFor(
  pool: Live<NodePool>,
  pods: readonly (Pod | undefined)[],
): Record<string, string> {
  const groups = groupsOf(pods).slice(0, mostGroups);
  return { [annotations.madeFor]: [pool.metadata.generation ?? 0, ...groups].join(' ') };
}

/** Undefined for a claim that was made by hand, or before there was such an annotation. */
export function launchOf({ metadata }: Live<NodeClaim>, clock: Clock): Launch | undefined {
  const text = metadata.annotations?.[annotations.madeFor];
  const pool = metadata.labels?.[labels.nodePool];
  if (text === undefined || pool === undefined) return undefined;
  const [generation = '0', ...groups] = text.split(' ');
  const revision = metadata.annotations?.[annotations.revision];
  return {
    claim: metadata.name,
    pool,
    groups,
    basis: { generation: Number(generation), revision },
    at: clock.from(metadata.creationTimestamp ?? clock.stamp()),
  };
}
