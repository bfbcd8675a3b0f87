import type { Taint, Toleration } from '#schemas/kubernetes/core.ts';

import type { Asked, Wishes } from '../labels/asked.ts';
import { fromSelector, intersect, type Requirements } from '../requirements.ts';
import type { Amounts } from '../slots.ts';
import { untolerated } from '../taints.ts';
import { Choice } from '../topology/choice.ts';
import type { Counter } from '../topology/counter.ts';
import { isFinal, type Rule } from '../topology/rule.ts';
import type { PodTerm, Spread } from '../topology/terms.ts';
import type { Topology } from '../topology/topology.ts';
import type { PodGroup } from './group.ts';
import type { HostPort } from './host-ports.ts';
import { levelsOf, type Level, type PreferencePolicy } from './relaxation.ts';

/** Where Pods of a group may go while some of their wishes hold, and what they change there. */
export interface Variant {
  readonly asked: Asked;
  readonly needs: Amounts;
  readonly tolerations: readonly Toleration[];
  readonly ports: readonly HostPort[];
  /** By CSI driver; undefined for Pods without such volumes. */
  readonly attached: Readonly<Record<string, readonly string[]>> | undefined;
  /** Whether it has rules about other Pods itself. */
  readonly isRuled: boolean;
  readonly hostRules: readonly Rule[];
  /** One for each other key that rules of the Pod, or rules about it, look at; those of the Pod first. */
  readonly choices: readonly Choice[];
  /** They count the Pod. */
  readonly counted: readonly Counter[];
  /** They count it for those that it keeps away. */
  readonly keeps: readonly Counter[];
  /** When they grow, what was impossible may become possible. */
  readonly opening: readonly Counter[];
}

/** A taint that keeps a variant off, or that it would rather not go to. */
export function unbearable(
  { tolerations }: Pick<Variant, 'tolerations'>,
  taints: readonly Taint[],
): Taint | undefined {
  return untolerated(taints, tolerations, unwanted);
}

const unwanted = { wishes: true };

export interface VariantSource {
  readonly wishes: Wishes;
  readonly topology: Topology;
  readonly policy: PreferencePolicy;
  readonly hasUnwanted: boolean;
  /** False when nobody knows which Pods there are: rules that are only wishes are passed over then. */
  readonly knowsPods: boolean;
}

/**
 * All variants of a group, the most demanding first. Several kinds of node that a Pod accepts are several variants, as
 * are several places that its volumes can be attached in.
 *
 * Counters are made on the way, so {@link Variant.counted} is to be filled in once every group has its rules.
 */
export function variantsOf(group: PodGroup, needs: Amounts, source: VariantSource): Draft[] {
  const { form, rules } = group;
  const held = source.knowsPods ? rules : { ...rules, ...noWishes };
  return levelsOf(form.spec, held, source.policy, source.hasUnwanted).flatMap((level) => {
    const drafted = rulesAt(level, group, source);
    return alternatives(group, level).map((asked) => ({
      ...drafted,
      asked: source.wishes.of(asked),
      needs,
      tolerations: level.toleratesUnwanted
        ? [...(form.spec.tolerations ?? []), anyUnwanted]
        : (form.spec.tolerations ?? []),
      ports: form.ports,
      attached: group.volumes?.attached,
    }));
  });
}

const noWishes = { preferredAffinity: [], preferredAntiAffinity: [], preferredSpread: [] };
const anyUnwanted: Toleration = { operator: 'Exists', effect: 'PreferNoSchedule' };

/** A variant whose place among the rules of others is not known yet. */
export interface Draft extends Omit<
  Variant,
  'isRuled' | 'hostRules' | 'choices' | 'counted' | 'opening'
> {
  readonly rules: readonly Rule[];
}

export function complete(
  { rules, ...draft }: Draft,
  counted: readonly Counter[],
  keptBy: readonly Counter[],
): Variant {
  const kept = keptBy.map((counter): Rule => ({ kind: 'anti', counter }));
  const all = [...rules, ...kept];
  const counters = [...counted, ...draft.keeps];
  const keys = new Set([...all.map(({ counter }) => counter), ...counters].map((c) => c.domains));
  const choices = [...keys]
    .filter(({ isHost }) => !isHost)
    .map(
      (domains) =>
        new Choice(
          domains,
          all.filter(({ counter }) => counter.domains === domains),
          counters.filter((counter) => counter.domains === domains),
        ),
    );
  return {
    ...draft,
    isRuled: rules.length > 0,
    hostRules: all.filter(({ counter }) => counter.domains.isHost),
    choices: choices.toSorted((a, b) => Number(b.isBinding) - Number(a.isBinding)),
    counted,
    opening: all.filter((rule) => !isFinal(rule)).flatMap(countersOf),
  };
}

const countersOf = (rule: Rule): readonly Counter[] =>
  rule.kind === 'affinity' ? rule.together : [rule.counter];

function rulesAt(
  level: Level,
  group: PodGroup,
  { topology, wishes }: VariantSource,
): Pick<Draft, 'rules' | 'keeps'> {
  const { form, rules } = group;
  const terms = form.alternatives.map((one) => wishes.of(one));
  const tolerations = form.spec.tolerations ?? [];
  const standing = { formId: form.id, terms, tolerations };
  const spread = (one: Spread): Rule => topology.spread(one, group, standing);
  const away = (term: PodTerm): Rule => topology.antiAffinity(term, group);
  return {
    rules: [
      ...[...rules.spread, ...level.spread].map(spread),
      ...topology.affinities(rules.affinity, group),
      ...level.affinity.flatMap((term) => topology.affinities([term], group)),
      ...[...rules.antiAffinity, ...level.antiAffinity].map(away),
    ],
    keeps: rules.antiAffinity.map((term) => topology.keeper(term, group)),
  };
}

/** How many variants each level of wishes has. */
export function placesOf({ form, volumes }: PodGroup): number {
  return form.alternatives.length * Math.max(1, volumes?.nodes.length ?? 0);
}

function alternatives({ form, volumes }: PodGroup, { preferred }: Level): Requirements[] {
  const wish = fromSelector(preferred?.matchExpressions ?? []);
  const places = volumes?.nodes.length ? volumes.nodes.map((one) => fromSelector(one)) : [anywhere];
  return form.alternatives.flatMap((own) => places.map((place) => intersect(own, wish, place)));
}

const anywhere: Requirements = new Map();
