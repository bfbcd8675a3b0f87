import type { NodeSelectorTerm, PodSpec } from '#schemas/kubernetes/core.ts';

import type { PodRules, PodTerm, Spread } from '../topology/terms.ts';

/** What a Pod insists on while some of its wishes have been dropped. */
export interface Level {
  /** The one wish about the node that is held for now. */
  readonly preferred: NodeSelectorTerm | undefined;
  /** Wishes about other Pods, held like what is required. */
  readonly affinity: readonly PodTerm[];
  readonly antiAffinity: readonly PodTerm[];
  readonly spread: readonly Spread[];
  /** Whether it goes to nodes that would rather not have it. */
  readonly toleratesUnwanted: boolean;
}

export type PreferencePolicy = 'Respect' | 'Ignore';

/**
 * A Pod's levels from all wishes to none. Each drops one more, in upstream's order: the heaviest wish to be near a Pod,
 * then the heaviest to be away from one, then the heaviest about the node, then a spread, and last it takes nodes with
 * a PreferNoSchedule taint. Of several wishes about the node the heaviest that is left counts alone.
 *
 * Of each kind the {@link mostWishes} heaviest are held.
 *
 * @param hasUnwanted  whether any node or pool has such a taint
 * Source: Karpenter v1.15, pkg/controllers/provisioning/scheduling/preferences.go.
 */
export function levelsOf(
  spec: PodSpec,
  rules: PodRules,
  policy: PreferencePolicy,
  hasUnwanted: boolean,
): readonly Level[] {
  const levels = policy === 'Ignore' || !hasWishes(spec, rules) ? plain : wishesOf(spec, rules);
  const last = levels.at(-1) ?? nothing;
  return hasUnwanted ? [...levels, { ...last, toleratesUnwanted: true }] : levels;
}

const nothing: Level = {
  preferred: undefined,
  affinity: [],
  antiAffinity: [],
  spread: [],
  toleratesUnwanted: false,
};

const plain: readonly Level[] = [nothing];

function hasWishes({ affinity }: PodSpec, rules: PodRules): boolean {
  return (
    rules.preferredAffinity.length > 0 ||
    rules.preferredAntiAffinity.length > 0 ||
    rules.preferredSpread.length > 0 ||
    affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution !== undefined
  );
}

/**
 * So many wishes of each kind are held, the heaviest; nobody writes more, and whoever writes a thousand would have all
 * other Pods wait for a thousand levels with a thousand rules each.
 */
const mostWishes = 8;

function wishesOf(spec: PodSpec, rules: PodRules): Level[] {
  const near = rules.preferredAffinity.slice(0, mostWishes);
  const away = rules.preferredAntiAffinity.slice(0, mostWishes);
  const spread = rules.preferredSpread.slice(0, mostWishes);
  const nodes = preferredNodes(spec).slice(0, mostWishes);
  const all = { near: near.length, away: away.length, nodes: nodes.length, spread: spread.length };
  const counts = [{ ...all }];
  for (const kind of ['near', 'away', 'nodes', 'spread'] as const) {
    for (; all[kind] > 0;) {
      all[kind] -= 1;
      counts.push({ ...all });
    }
  }
  return counts.map((left) => ({
    preferred: nodes.at(nodes.length - left.nodes),
    affinity: last(near, left.near),
    antiAffinity: last(away, left.away),
    spread: last(spread, left.spread),
    toleratesUnwanted: false,
  }));
}

function last<T>(list: readonly T[], count: number): readonly T[] {
  return list.slice(list.length - count);
}

/** Heaviest first; equal weights keep their order. */
function preferredNodes({ affinity }: PodSpec): NodeSelectorTerm[] {
  return (affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ preference }) => preference);
}
