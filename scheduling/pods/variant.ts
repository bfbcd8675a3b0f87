import type { Taint, Toleration } from '#schemas/kubernetes/core.ts';

import type { Asked, Wishes } from '../labels/asked.ts';
import { fromSelector, intersect, type Requirements } from '../requirements.ts';
import { untolerated } from '../taints.ts';
import { Choice } from '../topology/choice.ts';
import type { Counter } from '../topology/counter.ts';
import type { Domains } from '../topology/domains.ts';
import type { NodeLike } from '../topology/node-filter.ts';
import { isFinal, type AffinityRule, type Rule, type SpreadRule } from '../topology/rule.ts';
import { noRules, type PodTerm, type Spread } from '../topology/terms.ts';
import type { Topology } from '../topology/topology.ts';
import type { PodKind } from './group.ts';
import type { HostPort } from './host-ports.ts';
import { levelsOf, type Level, type PreferencePolicy } from './relaxation.ts';

/** Where Pods of a kind may go while some of their wishes hold, and what they change there. */
export interface Variant {
  readonly asked: Asked;
  readonly tolerations: readonly Toleration[];
  readonly ports: readonly HostPort[];
  /** By CSI driver; undefined for Pods without such volumes. */
  readonly attached: Readonly<Record<string, readonly string[]>> | undefined;
  /** Of its volumes; none for Pods without. */
  readonly drivers: readonly string[];
  /** Whether it has rules about other Pods itself. */
  readonly isRuled: boolean;
  /** Whether no other of its kind can be on its host. */
  readonly isLonely: boolean;
  /** Its own spreads and affinities. */
  readonly spreads: readonly SpreadRule[];
  readonly affinities: readonly AffinityRule[];
  readonly hostRules: readonly Rule[];
  /** One for each other key that rules of the Pod, or rules about it, look at; those of the Pod first. */
  readonly choices: readonly Choice[];
  /** They count the Pod. */
  readonly counted: readonly Counter[];
  /** They count it for those that it keeps away. */
  readonly keeps: readonly Counter[];
  /** When they grow, what was impossible may become possible. */
  readonly opening: readonly Counter[];
  /** Kinds of node whose labels and taints are right, or not, as far as it was asked. */
  readonly suited: Map<NodeLike, boolean>;
  /** Pools whose machines can be asked for, or not, as far as it was asked. */
  readonly borne: Map<object, boolean>;
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
 * All variants of a kind, the most demanding first. Several kinds of node that a Pod accepts are several variants, as
 * are several places that its volumes can be attached in.
 *
 * Counters are made on the way, so {@link Variant.counted} is to be filled in once every kind has its rules.
 */
export function variantsOf(kind: PodKind, source: VariantSource): Draft[] {
  const { form, rules } = kind;
  const held = source.knowsPods || rules === noRules ? rules : { ...rules, ...noWishes };
  const levels = levelsOf(form.spec, held, source.policy, source.hasUnwanted);
  return few(levels, placesOf(kind)).flatMap((level) => {
    const drafted = rulesAt(level, kind, source);
    return alternatives(kind, level).map((asked) => ({
      ...drafted,
      asked: source.wishes.of(asked),
      tolerations: level.toleratesUnwanted
        ? [...(form.spec.tolerations ?? []), anyUnwanted]
        : (form.spec.tolerations ?? []),
      ports: form.ports,
      attached: kind.volumes?.attached,
      drivers: kind.volumes?.drivers ?? noDrivers,
    }));
  });
}

/** A Pod that accepts very many kinds of node goes without wishes sooner than that all others wait for its variants. */
const mostVariants = 256;

/** The most demanding levels and the last one. */
function few(levels: readonly Level[], places: number): readonly Level[] {
  const most = Math.max(1, Math.floor(mostVariants / Math.max(1, places)));
  return levels.length > most ? [...levels.slice(0, most - 1), ...levels.slice(-1)] : levels;
}

const noDrivers: readonly string[] = [];
const noWishes = { preferredAffinity: [], preferredAntiAffinity: [], preferredSpread: [] };
const anyUnwanted: Toleration = { operator: 'Exists', effect: 'PreferNoSchedule' };

/** A variant whose place among the rules of others is not known yet. */
export interface Draft extends Pick<
  Variant,
  'asked' | 'tolerations' | 'ports' | 'attached' | 'drivers' | 'keeps'
> {
  readonly rules: readonly Rule[];
}

/**
 * A Pod that is counted where others spread leaves room for those: best so that all domains stay even, else so that
 * those that are placed can still be bound.
 *
 * @param counted  by whom the Pod is counted
 * @param keptBy  rules of others that keep it away
 * @param isCareful  whether all domains are left even where they can be
 * @returns ways to make the variants, of which the later ones are seldom needed
 */
export function completed(
  draft: Draft,
  counted: readonly Counter[],
  keptBy: readonly Counter[],
  isCareful: boolean,
): (() => Variant)[] {
  if (counted.length === 0 && keptBy.length === 0)
    return [() => complete(draft, draft.rules, counted)];
  const kept = keptBy.map((counter): Rule => ({ kind: 'anti', counter }));
  const guarded = guardedBy(draft, counted);
  const late = guarded.map((counter): Rule => ({ kind: 'guard', counter, isEarly: false }));
  const early = guarded.flatMap((counter): Rule[] =>
    counter.domains.isHost || !isCareful ? [] : [{ kind: 'guard', counter, isEarly: true }],
  );
  const rules = [...draft.rules, ...kept, ...joinsOf(draft, counted), ...late];
  const variant = (): Variant => complete(draft, rules, counted);
  return early.length > 0
    ? [() => complete(draft, [...rules, ...early], counted), variant]
    : [variant];
}

function complete(
  { rules: own, ...draft }: Draft,
  rules: readonly Rule[],
  counted: readonly Counter[],
): Variant {
  return {
    ...draft,
    isRuled: own.length > 0,
    isLonely: own.some(({ kind, counter }) => kind === 'anti' && counter.domains.isHost),
    spreads: own.filter((rule) => rule.kind === 'spread'),
    affinities: own.filter((rule) => rule.kind === 'affinity'),
    hostRules: rules.filter(({ counter }) => counter.domains.isHost),
    choices: choicesOf(rules, draft.keeps.length > 0 ? [...counted, ...draft.keeps] : counted),
    counted,
    opening: rules.filter((rule) => !isFinal(rule)).flatMap(countersOf),
    suited: new Map(),
    borne: new Map(),
  };
}

/** A Pod that seeks by a counter itself joins anyway. */
function joinsOf({ rules }: Draft, counted: readonly Counter[]): Rule[] {
  return counted
    .filter((counter) => counter.isSought && !has(rules, 'affinity', counter))
    .map((counter) => ({ kind: 'join', counter }));
}

/** A Pod that spreads by a counter itself keeps it even anyway, unless others ask for more. */
function guardedBy({ rules }: Draft, counted: readonly Counter[]): readonly Counter[] {
  return counted.filter(
    (counter) =>
      counter.skew < Infinity && (counter.evenness.length > 1 || !has(rules, 'spread', counter)),
  );
}

function has(rules: readonly Rule[], kind: Rule['kind'], counter: Counter): boolean {
  return rules.some((rule) => rule.kind === kind && rule.counter === counter);
}

/** The Pod's own rules come first. */
function choicesOf(rules: readonly Rule[], counters: readonly Counter[]): Choice[] {
  const keys = new Set<Domains>();
  for (const { counter } of rules) keys.add(counter.domains);
  for (const { domains } of counters) keys.add(domains);
  const choices: Choice[] = [];
  for (const domains of keys) {
    if (domains.isHost) continue;
    const own = rules.filter(({ counter }) => counter.domains === domains);
    choices.push(
      new Choice(
        domains,
        own,
        counters.filter((one) => one.domains === domains),
      ),
    );
  }
  return choices.toSorted(
    (a, b) => Number(b.isBinding) - Number(a.isBinding) || (a.domains.key < b.domains.key ? -1 : 1),
  );
}

const countersOf = (rule: Rule): readonly Counter[] =>
  rule.kind === 'affinity' ? rule.together : [rule.counter];

function rulesAt(
  level: Level,
  kind: PodKind,
  { topology, wishes }: VariantSource,
): Pick<Draft, 'rules' | 'keeps'> {
  const { form, rules } = kind;
  if (rules === noRules) return unruled;
  const terms = form.alternatives.map((one) => wishes.of(one));
  const tolerations = form.spec.tolerations ?? [];
  const spreads = (some: readonly Spread[], together: readonly Spread[]): Rule[] => {
    const keys = together.map(({ topologyKey }) => topologyKey);
    const standing = { formId: form.id, terms, tolerations, keys };
    return some.map((one) => topology.spread(one, kind, standing));
  };
  const away = (term: PodTerm): Rule => topology.antiAffinity(term, kind);
  return {
    rules: [
      ...spreads(rules.spread, rules.spread),
      ...spreads(level.spread, rules.preferredSpread),
      ...topology.affinities(rules.affinity, kind),
      ...level.affinity.flatMap((term) => topology.affinities([term], kind, true)),
      ...[...rules.antiAffinity, ...level.antiAffinity].map(away),
    ],
    keeps: rules.antiAffinity.map((term) => topology.keeper(term, kind)),
  };
}

/** How many variants each level of wishes has. */
export function placesOf({ form, volumes }: PodKind): number {
  return form.alternatives.length * Math.max(1, volumes?.nodes.length ?? 0);
}

const unruled: Pick<Draft, 'rules' | 'keeps'> = { rules: [], keeps: [] };

function alternatives({ form, volumes }: PodKind, { preferred }: Level): readonly Requirements[] {
  if (!preferred && !volumes) return form.alternatives;
  const wish = fromSelector(preferred?.matchExpressions ?? []);
  const places = volumes?.nodes.length ? volumes.nodes.map((one) => fromSelector(one)) : [anywhere];
  return form.alternatives.flatMap((own) => places.map((place) => intersect(own, wish, place)));
}

const anywhere: Requirements = new Map();
