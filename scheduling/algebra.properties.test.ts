/** The algebra of requirements against sets that are counted out. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Requirement } from '#schemas/karpenter/types.ts';
import { labels } from '#schemas/names.ts';

import {
  conflictOf,
  fromSelector,
  intersect,
  isCertain,
  matchesLabels,
  toSelector,
} from './requirements.ts';

/** Enough that every set of the kind below that is not empty has one of them. `07` is 7 and is not spelled `7`. */
const values = [
  ...Array.from({ length: 12 }, (_, number) => String(number)),
  ...Array.from({ length: 12 }, (_, number) => `0${number}`),
  '-1',
  '9223372036854775807',
  '9223372036854775808', // the first number that kube-scheduler cannot read
  'a',
  'b',
  'other',
];
const absent = undefined;
const key = 'example.com/gen';

const one: fc.Arbitrary<Requirement> = fc.oneof(
  fc.record({
    key: fc.constant(key),
    operator: fc.constantFrom('In' as const, 'NotIn' as const),
    values: fc.subarray(['0', '1', '2', '3', '4', 'a', 'b'], { minLength: 1 }),
  }),
  fc.record({
    key: fc.constant(key),
    operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
  }),
  fc.record({
    key: fc.constant(key),
    operator: fc.constantFrom('Gt' as const, 'Lt' as const, 'Gte' as const, 'Lte' as const),
    values: fc.constantFrom('0', '2', '3', '5').map((value) => [value]),
  }),
);
const several = fc.array(one, { maxLength: 3 });
/** To say nothing of a label is another case. */
const some = fc.array(one, { minLength: 1, maxLength: 3 });

type Value = string | undefined;

/** What kube-scheduler makes of the value of a label, if a node has one. */
const meanings: Record<Requirement['operator'], (value: Value, named: string[]) => boolean> = {
  In: (value, named) => value !== absent && named.includes(value),
  NotIn: (value, named) => value === absent || !named.includes(value),
  Exists: (value) => value !== absent,
  DoesNotExist: (value) => value === absent,
  Gt: (value, [bound]) => numberOf(value) > numberOf(bound),
  Gte: (value, [bound]) => numberOf(value) >= numberOf(bound),
  Lt: (value, [bound]) => numberOf(value) < numberOf(bound),
  Lte: (value, [bound]) => numberOf(value) <= numberOf(bound),
};

const holds = ({ operator, values: named = [] }: Requirement, value: Value): boolean =>
  meanings[operator](value, named);

/** NaN, which no comparison is true of, for what is no whole number of 64 bits; small bounds need no more digits. */
const numberOf = (value: Value): number =>
  value !== absent && /^-?\d+$/.test(value) && BigInt(value) < 2n ** 63n ? Number(value) : NaN;

const all = (list: readonly Requirement[], value: string | undefined): boolean =>
  list.every((requirement) => holds(requirement, value));

test('labels match as kube-scheduler matches them', () => {
  fc.assert(
    fc.property(several, fc.constantFrom(...values, absent), (asked, value) => {
      const given = value === absent ? {} : { [key]: value };
      const each = asked.every((requirement) => matchesLabels(fromSelector([requirement]), given));
      expect(each).toBe(all(asked, value));
    }),
  );
});

test('several requirements on one label match as kube-scheduler matches all of them', () => {
  fc.assert(
    fc.property(several, fc.constantFrom(...values, absent), (asked, value) => {
      const given = value === absent ? {} : { [key]: value };
      expect(matchesLabels(fromSelector(asked), given)).toBe(all(asked, value));
    }),
    { numRuns: 2000 },
  );
});

test('written out and read again they match the same', () => {
  fc.assert(
    fc.property(several, fc.constantFrom(...values, absent), (asked, value) => {
      const set = fromSelector(asked);
      fc.pre([...values, absent].some((any) => all(asked, any))); // nothing can be said that nothing satisfies
      const given = value === absent ? {} : { [key]: value };
      const again = fromSelector(toSelector(set));
      expect(matchesLabels(again, given)).toBe(matchesLabels(set, given));
    }),
    { numRuns: 2000 },
  );
});

test('narrowing keeps exactly the values that all have', () => {
  fc.assert(
    fc.property(several, several, fc.constantFrom(...values), (a, b, value) => {
      const set = intersect(fromSelector(a), fromSelector(b)).get(key);
      expect(set?.has(value) ?? true).toBe(all([...a, ...b], value));
    }),
  );
});

test('an offer and a wish agree exactly when some value, or none at all, is fine for both', () => {
  fc.assert(
    fc.property(some, some, (offer, wish) => {
      const isFine = [...values, absent].some((value) => all(offer, value) && all(wish, value));
      const conflict = conflictOf(fromSelector(offer), fromSelector(wish));
      expect(conflict === undefined).toBe(isFine);
    }),
    { numRuns: 2000 },
  );
});

test('a well-known label that nobody offers has any value, another one none', () => {
  fc.assert(
    fc.property(one, (wish) => {
      const none = fromSelector([]);
      const known = fromSelector([{ ...wish, key: labels.arch }]);
      expect(conflictOf(none, fromSelector([wish])) === undefined).toBe(holds(wish, absent));
      const can = [...values, absent].some((value) => holds(wish, value));
      expect(conflictOf(none, known) === undefined).toBe(can);
    }),
  );
});

test('what is certain is fine whatever the offer leaves open', () => {
  fc.assert(
    fc.property(some, several, (offer, wish) => {
      fc.pre(isCertain(fromSelector(offer), fromSelector(wish)));
      const open = [...values, absent].filter((value) => all(offer, value));
      expect(open.filter((value) => !all(wish, value))).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});
