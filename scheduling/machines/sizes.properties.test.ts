import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Requirement } from '#schemas/karpenter/types.ts';
import { labels } from '#schemas/names.ts';

import { solve } from '../solve.ts';
import type { Problem } from '../solver.ts';
import { anyProblem } from '../testing/arbitrary.ts';
import { daemonSet, pods, pool, problem, size } from '../testing/build.ts';

/** One cluster some time later: other Pods and DaemonSets, the same catalogs. */
const twoTimes = fc
  .tuple(anyProblem, anyProblem, fc.boolean())
  .map(([first, later, hasDaemons]) => ({
    first,
    later: {
      ...later,
      pools: later.pools.map((one, index) => ({
        ...one,
        instanceTypes: first.pools[index]?.instanceTypes ?? one.instanceTypes,
      })),
      daemonSets: hasDaemons ? [daemonSet({ cpu: '500m' })] : [],
    },
  }));

test('what is kept of a catalog changes no plan', () => {
  fc.assert(
    fc.property(twoTimes, ({ first, later }) => {
      for (const one of [first, later, first]) {
        expect(solve(one)).toEqual(solve(strange(one)));
      }
    }),
    { numRuns: 60 },
  );
});

test('the same catalog is another for a pool with other requirements, labels or DaemonSets', () => {
  const sizes = [size(2), size(4)];
  const onlyLarge: Requirement = { key: labels.instanceVcpus, operator: 'Gt', values: ['2'] };
  const vcpus = (parts: Partial<Problem>): (number | undefined)[] =>
    solve(problem({ pods: pods(1, { cpu: '2' }), ...parts })).claims.map(
      ({ instanceTypes }) => instanceTypes[0]?.machine.vcpus,
    );
  const plain = [pool('general', { sizes })];
  expect(vcpus({ pools: plain })).toEqual([2]);
  expect(vcpus({ pools: plain, daemonSets: [daemonSet({ cpu: '1' })] })).toEqual([4]);
  expect(vcpus({ pools: [pool('general', { sizes, requirements: [onlyLarge] })] })).toEqual([4]);
  expect(vcpus({ pools: plain })).toEqual([2]);
});

/** The same in objects that no pass has seen. */
function strange(one: Problem): Problem {
  return structuredClone(one);
}
