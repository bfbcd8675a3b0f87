import { expect, test } from 'vitest';

import { priceOfClaim } from '../price.ts';
import { solve } from '../solve.ts';
import type { Plan } from '../solver.ts';
import { allDifferent, besideNodes, mix, wishful } from './mix.ts';

const costOf = ({ claims }: Plan): number =>
  claims.reduce((sum, claim) => sum + (priceOfClaim(claim) ?? Infinity), 0);

// The costs are what Karpenter v1.15.0 pays for its own draw of the same distribution.
test.each([
  [100, 31.79],
  [1000, 345.28],
])('the mix of %i Pods needs a node for five Pods, and costs less than upstream', (count, cost) => {
  const plan = solve(mix(count));
  expect(plan.unschedulable).toEqual(new Map());
  expect(plan.claims).toHaveLength(count / 5);
  expect(costOf(plan)).toBeLessThan(cost);
});

test('Pods of which none is like another share few machines', () => {
  const plan = solve(allDifferent(200));
  expect(plan.unschedulable).toEqual(new Map());
  expect(plan.claims).toHaveLength(1);
});

test('nodes that are there are filled first', () => {
  const plan = solve(besideNodes(100, 50));
  expect(plan.nominations.size).toBeGreaterThan(5);
  expect(plan.claims.length).toBeLessThan(20);
  expect(plan.unschedulable).toEqual(new Map());
});

test('Pods that would like to be alone are, while they can be', () => {
  const { claims, unschedulable } = solve(wishful(50));
  expect(unschedulable).toEqual(new Map());
  expect(claims.map(({ pods }) => pods.length)).toEqual(Array.from({ length: 50 }, () => 1));
});
