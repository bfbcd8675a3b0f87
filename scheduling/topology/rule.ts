/**
 * What a Pod asks of the Pods that are, or will be, in the same domain.
 *
 * Sources: k8s.io/kubernetes v1.37, plugins/podtopologyspread and plugins/interpodaffinity, filtering.go;
 * Karpenter v1.15, pkg/controllers/provisioning/scheduling/topologygroup.go for domains that do not exist yet.
 */
import type { Counter } from './counter.ts';

/** A domain may have at most `maxSkew` Pods more than the emptiest. */
export interface SpreadRule {
  readonly kind: 'spread';
  readonly counter: Counter;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** 1 if the Pod counts itself. */
  readonly self: number;
}

/** A domain must have such a Pod. */
export interface AffinityRule {
  readonly kind: 'affinity';
  readonly counter: Counter;
  /** All affinities of the Pod: only if none of them finds anybody may a Pod that matches itself start a group. */
  readonly together: readonly Counter[];
  readonly isSelf: boolean;
}

/** A domain must not have such a Pod, or such a Pod's own rule. */
export interface AntiRule {
  readonly kind: 'anti';
  readonly counter: Counter;
}

export type Rule = SpreadRule | AffinityRule | AntiRule;

/** What {@link allows} compares with; the same for all domains. */
export function leastOf(rule: Rule): number {
  if (rule.kind !== 'spread' || rule.counter.domains.isHost) return 0; // a new host is always possible
  const { counter, minDomains } = rule;
  if (counter.known.size < minDomains) return 0;
  let least = Infinity;
  for (const domain of counter.known) least = Math.min(least, counter.in(domain));
  return least;
}

export function allows(rule: Rule, domain: number, least: number): boolean {
  const { counter } = rule;
  switch (rule.kind) {
    case 'spread':
      if (!counter.domains.isHost && !counter.known.has(domain)) return false;
      return counter.in(domain) + rule.self - least <= rule.maxSkew;
    case 'affinity':
      return counter.in(domain) > 0 || startsGroup(rule);
    case 'anti':
      return counter.isFree(domain);
  }
}

/** The first Pod of a group that seeks its own kind may go anywhere. */
export function startsGroup({ isSelf, together }: AffinityRule): boolean {
  return isSelf && together.every(({ total }) => total === 0);
}

/** What changes nothing about such a rule but for the worse: once it refuses a domain, it always will. */
export function isFinal({ kind, counter }: Rule): boolean {
  return kind === 'anti' || (kind === 'spread' && counter.domains.isHost);
}
