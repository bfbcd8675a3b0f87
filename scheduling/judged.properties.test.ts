import fc from 'fast-check';
import { expect, test } from 'vitest';

import { solve } from './solve.ts';
import { anyProblem } from './testing/arbitrary.ts';
import { unbound } from './testing/judge.ts';

test('every planned Pod can be bound to its node, as kube-scheduler judges', () => {
  fc.assert(
    fc.property(anyProblem, (problem) => {
      expect(unbound(problem, solve(problem))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
