import fc from 'fast-check';
import { expect, test } from 'vitest';

import { solve } from './solve.ts';
import type { Problem } from './solver.ts';
import { anyProblem } from './testing/arbitrary.ts';

/** Some of the Pods, by a number that says which. */
function parted(problem: Problem, which: number): Problem {
  const isLeaving = (index: number): boolean => ((which >> (index % 31)) & 1) === 1;
  return {
    ...problem,
    pods: problem.pods.filter((_, index) => !isLeaving(index)),
    leaving: problem.pods.filter((_, index) => isLeaving(index)),
  };
}

test('Pods that have to leave are placed like those that wait, and only these are counted by zone', () => {
  fc.assert(
    fc.property(anyProblem, fc.nat(), (problem, which) => {
      const given = parted(problem, which);
      const { zones: all, ...alike } = solve(problem);
      const { zones, ...placed } = solve(given);
      expect(placed).toEqual(alike);
      expect(sum(all)).toBe(problem.pods.length);
      expect(sum(zones)).toBe(given.pods.length);
      for (const [zone, count] of zones) expect(count).toBeLessThanOrEqual(all.get(zone) ?? 0);
    }),
    { numRuns: 150 },
  );
});

function sum(zones: ReadonlyMap<string, number>): number {
  return [...zones.values()].reduce((total, count) => total + count, 0);
}
