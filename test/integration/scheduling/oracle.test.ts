/** A few of the cases of `npm run test:oracle`, always the same ones, and whether a bad plan would be found out. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

import { solve } from '#scheduling/solve.ts';
import type { Plan, Problem } from '#scheduling/solver.ts';
import { pods, pool, problem, size } from '#scheduling/testing/build.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { compare } from '#test/oracle/answers/compare.ts';
import { spaces } from '#test/oracle/cases/terms.ts';
import { Court } from '#test/oracle/court.ts';
import { led } from '#test/oracle/stories.ts';
import { judge, judgeSmall } from '#test/oracle/suite.ts';

let court: Court;

beforeAll(async () => {
  court = await Court.open(inject('tools'), 1, new SystemClock());
});

afterAll(async () => {
  await court?.close();
});

describe('before the real kube-scheduler', () => {
  test.each([20261198, 20261203, 20261303, 20261479, 20261594, 20270185, 20271233])(
    'a plan is carried out as it was made, seed %i',
    async (seed) => {
      const judged = await judge(court.clusters[0]!, seed, court.clock);

      expect(judged.violations).toEqual([]);
      expect(judged.led.planned).toBeGreaterThan(0);
    },
  );

  test('a plan that fills machines beyond their size is found out', async () => {
    const tooSmall = (given: Problem): Plan => madeOf('m.2', solve(given));

    const { planned, violations } = await led(court.clusters[0]!, fiveCpus(), 'small', tooSmall);

    expect(planned).toBe(5);
    expect(violations).toHaveLength(3);
    expect(violations[0]).toContain('is not bound: 0/1 nodes are available: 1 Insufficient cpu');
  });
});

describe('beside all other answers', () => {
  test('none is cheaper than the plan of a small problem', () => {
    const { compared, cheaper } = judgeSmall(Array.from({ length: 100 }, (_, seed) => seed));

    expect(cheaper).toEqual([]);
    expect(compared).toBeGreaterThan(50);
  });

  test.each([20261533, 31000267])('none is cheaper where one was once, seed %i', (seed) => {
    expect(judgeSmall([seed])).toEqual({ compared: 1, cheaper: [] });
  });

  test('a plan that takes a larger machine than it needs is found out', () => {
    const tooLarge = (given: Problem): Plan => madeOf('m.8', solve(given));

    const { cheaper } = compare({ ...fiveCpus(), pods: fiveCpus().pods.slice(0, 2) }, tooLarge);

    expect(cheaper).toContain('planned 0.80: web m.8');
    expect(cheaper).toContain('possible 0.20: web m.2');
  });
});

const sizes = [size(2), size(4), size(8)];

/** Five Pods of one CPU each. */
function fiveCpus(): Problem {
  const image = 'example.com/app';
  const wanted = pods(5).map(({ metadata, spec }) => ({
    metadata: { ...metadata, namespace: 'oracle-red' },
    spec: { ...spec, containers: spec!.containers.map((one) => ({ ...one, image })) },
  }));
  return problem({ pods: wanted, pools: [pool('web', { sizes })], bound: [], namespaces: spaces });
}

/** The plan, with every machine of one size. */
function madeOf(name: string, plan: Plan): Plan {
  const instanceTypes = sizes.filter((one) => one.name === name);
  return { ...plan, claims: plan.claims.map((claim) => ({ ...claim, instanceTypes })) };
}
