import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Requirement } from '#schemas/karpenter/types.ts';
import { labels } from '#schemas/names.ts';

import {
  byOldNames,
  conflictOf,
  fromLabels,
  fromSelector,
  intersect,
  isCertain,
  matchesLabels,
  toSelector,
} from './requirements.ts';
import { ValueSet } from './value-set.ts';

const key = 'example.com/team';
const values = ['0', '1', '2', '3', '5', '8', 'a', 'b'];
const of = (operator: Requirement['operator'], ...list: string[]): ValueSet =>
  ValueSet.of({ operator, values: list });

const anySet: fc.Arbitrary<Omit<Requirement, 'key'>> = fc.oneof(
  fc.record({
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.subarray(values, { minLength: 1 }),
  }),
  fc.record({ operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
  fc.record({
    operator: fc.constantFrom('Gt' as const, 'Lt' as const, 'Gte' as const, 'Lte' as const),
    values: fc.constantFrom('0', '2', '5').map((value) => [value]),
  }),
);

describe('the values of one label', () => {
  test('an intersection has exactly what both have', () => {
    fc.assert(
      fc.property(anySet, anySet, fc.constantFrom(...values), (a, b, value) => {
        const [first, second] = [ValueSet.of(a), ValueSet.of(b)];
        expect(first.intersect(second).has(value)).toBe(first.has(value) && second.has(value));
      }),
    );
  });

  test('what is written back means the same', () => {
    fc.assert(
      fc.property(anySet, anySet, fc.constantFrom(...values), (a, b, value) => {
        const set = ValueSet.of(a).intersect(ValueSet.of(b));
        const again = fromSelector(set.toRequirements(key)).get(key);
        expect(again?.has(value)).toBe(set.has(value));
      }),
    );
  });

  test('a set within another has no value of its own', () => {
    fc.assert(
      fc.property(anySet, anySet, fc.constantFrom(...values), (a, b, value) => {
        const [inner, outer] = [ValueSet.of(a), ValueSet.of(b)];
        fc.pre(inner.isWithin(outer) && inner.has(value));
        expect(outer.has(value)).toBe(true);
      }),
    );
  });

  test('bounds become Gt and Lt, and excluded values stay beside them', () => {
    const set = of('Gte', '4').intersect(of('Lte', '9')).intersect(of('NotIn', '6'));
    expect(set.toRequirements(key)).toEqual([
      { key, operator: 'NotIn', values: ['6'] },
      { key, operator: 'Gt', values: ['3'] },
      { key, operator: 'Lt', values: ['10'] },
    ]);
  });

  test('crossing bounds and bounds that are no number allow nothing', () => {
    expect(of('Gt', '5').intersect(of('Lt', '5')).isEmpty).toBe(true);
    expect(of('Gt', 'many').isEmpty).toBe(true);
  });

  test('the larger minValues counts', () => {
    const both = ValueSet.of({ operator: 'Exists', minValues: 2 }).intersect(
      ValueSet.of({ operator: 'In', values: ['a', 'b', 'c'], minValues: 3 }),
    );
    expect(both.minValues).toBe(3);
  });
});

describe('what a pool offers and a Pod asks', () => {
  const asked = (operator: Requirement['operator'], list: string[] = [], at = key) =>
    fromSelector([{ key: at, operator, values: list }]);

  test.each([
    ['In', ['a'], key],
    ['NotIn', ['a'], undefined],
    ['Exists', [], key],
    ['DoesNotExist', [], undefined],
    ['Gt', ['1'], key],
  ] as const)('a custom label nobody offers: %s', (operator, list, conflict) => {
    expect(conflictOf(fromSelector([]), asked(operator, [...list]))).toBe(conflict);
  });

  test('a well-known label that nobody offers is open', () => {
    expect(
      conflictOf(fromSelector([]), asked('In', ['m7i.large'], labels.instanceType)),
    ).toBeUndefined();
  });

  test('old names mean the new ones', () => {
    const zone = asked('In', ['eu-1a'], 'failure-domain.beta.kubernetes.io/zone');
    expect(conflictOf(fromLabels({ [labels.zone]: 'eu-1b' }), zone)).toBe(labels.zone);
  });

  test('two that only exclude agree although they share nothing', () => {
    expect(conflictOf(asked('DoesNotExist'), asked('NotIn', ['a']))).toBeUndefined();
    expect(conflictOf(asked('DoesNotExist'), asked('Exists'))).toBe(key);
  });

  test('a label named as a property of every object is no label', () => {
    expect(matchesLabels(asked('Exists', [], 'constructor'), {})).toBe(false);
    expect(matchesLabels(asked('DoesNotExist', [], 'constructor'), {})).toBe(true);
  });

  test('what is certain holds for every label the offer leaves open', () => {
    fc.assert(
      fc.property(anySet, anySet, fc.constantFrom(...values), (offer, ask, value) => {
        const offered = fromSelector([{ key, ...offer }]);
        const wanted = fromSelector([{ key, ...ask }]);
        fc.pre(isCertain(offered, wanted) && offered.get(key)?.has(value) === true);
        expect(matchesLabels(wanted, { [key]: value })).toBe(true);
      }),
    );
  });

  test('an offer without the label is certain only where absence is asked for', () => {
    expect(isCertain(asked('DoesNotExist'), asked('NotIn', ['a']))).toBe(true);
    expect(isCertain(asked('NotIn', ['a']), asked('Exists'))).toBe(false);
    expect(isCertain(fromSelector([]), asked('In', ['a']))).toBe(false);
  });

  test('the order of narrowing does not matter', () => {
    fc.assert(
      fc.property(anySet, anySet, anySet, (a, b, c) => {
        const [x, y, z] = [a, b, c].map((set) => fromSelector([{ key, ...set }]));
        const sorted = (list: Requirement[]) =>
          list.map((each) => ({ ...each, values: each.values?.toSorted() }));
        expect(sorted(toSelector(intersect(x!, y!, z!)))).toEqual(
          sorted(toSelector(intersect(z!, x!, y!))),
        );
      }),
    );
  });
});

test('old names are given to what has the new ones itself, and to nothing else', () => {
  expect(byOldNames({ [labels.arch]: 'amd64' })).toEqual({ 'beta.kubernetes.io/arch': 'amd64' });
  const inherited = Object.create({ [labels.arch]: 'amd64' }) as Record<string, string>;
  expect(byOldNames(inherited)).toEqual({});
});
