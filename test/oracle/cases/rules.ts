/** What Pods ask of other Pods. */
import fc from 'fast-check';

import type { PodTerm, Spread } from '#scheduling/topology/terms.ts';
import type { PodSpec } from '#schemas/kubernetes/core.ts';

import { seldom, selector, topologyKey } from './terms.ts';

const policy = fc.constantFrom('Honor' as const, 'Ignore' as const);

const spread: fc.Arbitrary<Spread> = fc
  .record({
    topologyKey,
    labelSelector: selector,
    maxSkew: fc.integer({ min: 1, max: 2 }),
    minDomains: seldom(fc.integer({ min: 1, max: 4 }), 4),
    nodeAffinityPolicy: seldom(policy, 2),
    nodeTaintsPolicy: seldom(policy, 2),
    matchLabelKeys: seldom(fc.constant(['version'])),
  })
  .map((parts) => ({ ...present(parts), whenUnsatisfiable: 'DoNotSchedule' }) as Spread);

/** `minDomains` goes only with what is required. */
const wishedSpread: fc.Arbitrary<Spread> = spread.map((one) => {
  const { minDomains: _, ...parts } = one;
  return { ...parts, whenUnsatisfiable: 'ScheduleAnyway' };
});

const term: fc.Arbitrary<PodTerm> = fc
  .record({
    topologyKey,
    labelSelector: selector,
    namespaces: seldom(fc.constant(['oracle-blue'])),
    namespaceSelector: seldom(fc.constantFrom({}, { matchLabels: { team: 'blue' } })),
    matchLabelKeys: seldom(fc.constant(['version']), 9),
    mismatchLabelKeys: seldom(fc.constant(['version']), 12),
  })
  .map(({ mismatchLabelKeys, ...parts }) =>
    present({ ...parts, mismatchLabelKeys: parts.matchLabelKeys ? undefined : mismatchLabelKeys }),
  ) as fc.Arbitrary<PodTerm>;

const weighted = fc.record({ weight: fc.integer({ min: 1, max: 3 }), podAffinityTerm: term });

/** Rules that must hold, at most two of a kind. */
export const requiredRules: fc.Arbitrary<Partial<PodSpec>> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 4, arbitrary: fc.array(spread, { minLength: 1, maxLength: 2 }).map(spreads) },
  { weight: 3, arbitrary: required('podAffinity') },
  { weight: 3, arbitrary: required('podAntiAffinity') },
  {
    weight: 2,
    arbitrary: fc
      .tuple(spread, fc.oneof(required('podAffinity'), required('podAntiAffinity')))
      .map(([one, other]) => ({ ...spreads([one]), ...other })),
  },
);

/** Rules that a Pod would like to hold. */
export const wishedRules: fc.Arbitrary<Partial<PodSpec>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: wishedSpread.map((one) => spreads([one])) },
  { weight: 1, arbitrary: wished('podAffinity') },
  { weight: 1, arbitrary: wished('podAntiAffinity') },
);

/** A rule by which a Pod that has a place keeps others away. */
export const keepingRules: fc.Arbitrary<Partial<PodSpec>> = required('podAntiAffinity');

/** Two constraints over one key with the same word are refused by the API server. */
function spreads(list: readonly Spread[]): Partial<PodSpec> {
  const byKey = new Map(list.map((one) => [`${one.topologyKey} ${one.whenUnsatisfiable}`, one]));
  return { topologySpreadConstraints: [...byKey.values()].map((one) => ({ ...one })) };
}

type Kind = 'podAffinity' | 'podAntiAffinity';

function required(kind: Kind): fc.Arbitrary<Partial<PodSpec>> {
  return fc.array(term, { minLength: 1, maxLength: 2 }).map((terms) => ({
    affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
  }));
}

function wished(kind: Kind): fc.Arbitrary<Partial<PodSpec>> {
  return fc.array(weighted, { minLength: 1, maxLength: 2 }).map((terms) => ({
    affinity: { [kind]: { preferredDuringSchedulingIgnoredDuringExecution: terms } },
  }));
}

/** What is undefined is left out, as it is on the wire. */
export function present<T extends object>(parts: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
