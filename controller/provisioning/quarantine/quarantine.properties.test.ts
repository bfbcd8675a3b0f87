import fc from 'fast-check';
import { expect, test } from 'vitest';

import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Quarantine } from './quarantine.ts';

interface Case {
  readonly groups: readonly string[];
  readonly poisons: ReadonlySet<string>;
}

/** Groups, some of them poison; with three of these at least one is not, or nobody could tell that it is the Pods. */
const anyCase: fc.Arbitrary<Case> = fc
  .array(fc.boolean(), { minLength: 1, maxLength: 70 })
  .map((flags) => {
    const groups = flags.map((_, index) => `g${index}`);
    return { groups, poisons: new Set(groups.filter((_, index) => flags[index])) };
  })
  .filter(({ groups, poisons }) => poisons.size < Math.max(3, groups.length));

const fewPoisons = anyCase.filter(({ poisons }) => poisons.size < 3);

/** Pass after pass until one for everybody who is not set aside has succeeded. */
function settle({ groups, poisons }: Case, doLeave: boolean) {
  const quarantine = new Quarantine(new FakeClock());
  const served = new Set<string>();
  let failed = 0;
  for (let pass = 0; pass < 5000; pass++) {
    const present = groups.filter((group) => !doLeave || !served.has(group));
    const admitted = [...quarantine.admit(present)];
    if (admitted.length === 0) break;
    if (admitted.some((group) => poisons.has(group))) {
      quarantine.failed('poison');
      failed += 1;
      continue;
    }
    admitted.forEach((group) => served.add(group));
    quarantine.succeeded();
    if (!quarantine.isSearching) break;
  }
  const aside = groups.filter((group) => quarantine.asideOf(group));
  return { aside, served: groups.filter((group) => served.has(group)), failed };
}

/** All that is to come out, and at most so many failed passes. */
function wanted({ groups, poisons }: Case) {
  const served = groups.filter((group) => !poisons.has(group));
  return { aside: [...poisons], served, most: 2 * poisons.size * (Math.log2(groups.length) + 2) };
}

test('any poisons among any groups are set aside, exactly these, in few failed passes', () => {
  fc.assert(
    fc.property(anyCase, (given) => {
      const { most, ...found } = wanted(given);
      const { failed, ...rest } = settle(given, false);
      expect(rest).toEqual(found);
      expect(failed).toBeLessThanOrEqual(most);
    }),
    { numRuns: 500 },
  );
});

test('also where Pods leave as soon as a machine is asked for them', () => {
  fc.assert(
    fc.property(fewPoisons, (given) => {
      const { most, ...found } = wanted(given);
      const { failed, ...rest } = settle(given, true);
      expect(rest).toEqual(found);
      expect(failed).toBeLessThanOrEqual(most);
    }),
    { numRuns: 500 },
  );
});
