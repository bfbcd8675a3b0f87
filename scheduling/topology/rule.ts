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
  /** kube-scheduler only prefers it: no other Pod need have regard for it. */
  readonly isWish: boolean;
}

/** A domain must have such a Pod. */
export interface AffinityRule {
  readonly kind: 'affinity';
  readonly counter: Counter;
  /** All affinities of the Pod: only if none of them finds anybody may a Pod that matches itself start a group. */
  readonly together: readonly Counter[];
  readonly isSelf: boolean;
  /** As in {@link SpreadRule}. */
  readonly isWish: boolean;
}

/** A domain must not have such a Pod, or such a Pod's own rule. */
export interface AntiRule {
  readonly kind: 'anti';
  readonly counter: Counter;
}

/**
 * A domain must not get so many Pods that one which spreads, and is planned for it, could no more be bound: which of
 * them kube-scheduler binds first is not known. Upstream has no such rule.
 */
export interface GuardRule {
  readonly kind: 'guard';
  readonly counter: Counter;
  /** Whether domains are kept even that nobody spreads over yet. */
  readonly isEarly: boolean;
}

/**
 * A Pod that a group seeks must join it once it has started somewhere: kube-scheduler lets nobody start a group while
 * there is such a Pod elsewhere, and may bind it first.
 */
export interface JoinRule {
  readonly kind: 'join';
  readonly counter: Counter;
}

export type Rule = SpreadRule | AffinityRule | AntiRule | GuardRule | JoinRule;

/** What {@link allows} compares with; the same for all domains. */
export function leastOf(rule: Rule): number {
  return rule.kind === 'spread' ? rule.counter.least(rule.minDomains) : 0;
}

export function allows(rule: Rule, domain: number, least: number): boolean {
  const { counter } = rule;
  switch (rule.kind) {
    case 'spread':
      return spreads(rule, domain, least);
    case 'affinity':
      return counter.in(domain) > 0 || startsGroup(rule);
    case 'anti':
      return counter.isFree(domain);
    case 'join':
      return !counter.isStarted || counter.in(domain) > 0;
    case 'guard':
      return rule.isEarly ? counter.staysEven(domain) : counter.hasRoomFor(domain);
  }
}

function spreads({ counter, self, maxSkew }: SpreadRule, domain: number, least: number): boolean {
  if (!counter.domains.isHost && !counter.known.has(domain)) return false;
  return counter.in(domain) + self - least <= maxSkew;
}

/** The first Pod of a group that seeks its own kind may go anywhere. */
export function startsGroup({ isSelf, together }: AffinityRule): boolean {
  return isSelf && together.every(({ total }) => total === 0);
}

/** What changes nothing about such a rule but for the worse: once it refuses a domain, it always will. */
export function isFinal({ kind, counter }: Rule): boolean {
  if (kind === 'affinity' || kind === 'join') return false;
  return kind === 'anti' || counter.domains.isHost;
}
