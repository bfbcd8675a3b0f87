import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Budget } from '#schemas/karpenter/types.ts';

import { nodePool } from '../testing/objects.ts';
import { allowedDisruptions, hasSchedules, unreadableBudget } from './budgets.ts';

const withBudgets = (...budgets: Budget[]) => nodePool({ disruption: { budgets } });
const steady = (nodes: number) => ({ nodes, leaving: 0, notReady: 0 });

describe('how many machines may go', () => {
  test.each<[string, Budget[], number, number]>([
    ['a count', [{ nodes: '3' }], 10, 3],
    ['a percentage, rounded up', [{ nodes: '10%' }], 5, 1],
    ['all', [{ nodes: '100%' }], 7, 7],
    ['none', [{ nodes: '0' }], 7, 0],
    ['no more than there are', [{ nodes: '20' }], 7, 7],
    ['the smallest counts', [{ nodes: '50%' }, { nodes: '2' }], 10, 2],
    ['one for another reason does not', [{ nodes: '0', reasons: ['Drifted'] }], 4, 4],
    [
      'one without reasons is for all',
      [{ nodes: '1' }, { nodes: '100%', reasons: ['Empty'] }],
      9,
      1,
    ],
    ['what cannot be read allows nothing', [{ nodes: 'many' }], 9, 0],
    ['an empty list allows all, as upstream', [], 4, 4],
    [
      'a schedule counts at all times',
      [{ nodes: '1', schedule: '0 9 * * *', duration: '8h' }],
      9,
      1,
    ],
  ])('%s', (_, budgets, nodes, allowed) => {
    expect(allowedDisruptions(withBudgets(...budgets), steady(nodes), 'Empty')).toBe(allowed);
  });

  test('a pool that says nothing has 10%', () => {
    expect(allowedDisruptions(nodePool(), steady(11), 'Empty')).toBe(2);
  });

  test('what leaves or is not ready uses it up, and never makes it negative', () => {
    const pool = withBudgets({ nodes: '3' });
    expect(allowedDisruptions(pool, { nodes: 9, leaving: 1, notReady: 1 }, 'Empty')).toBe(1);
    expect(allowedDisruptions(pool, { nodes: 9, leaving: 3, notReady: 2 }, 'Empty')).toBe(0);
  });

  test('never more than any one budget allows, however they are combined', () => {
    const budget = fc.record({
      nodes: fc.oneof(
        fc.nat(30).map(String),
        fc.nat(100).map((percent) => `${percent}%`),
      ),
    });
    const counts = fc.record({ nodes: fc.nat(50), leaving: fc.nat(5), notReady: fc.nat(5) });
    fc.assert(
      fc.property(fc.array(budget, { maxLength: 4 }), budget, counts, (budgets, more, pool) => {
        const without = allowedDisruptions(withBudgets(...budgets), pool, 'Empty');
        const withOneMore = allowedDisruptions(withBudgets(...budgets, more), pool, 'Empty');
        expect(withOneMore).toBeLessThanOrEqual(without);
        expect(withOneMore).toBeGreaterThanOrEqual(0);
        expect(withOneMore).toBeLessThanOrEqual(Math.max(0, pool.nodes - pool.leaving));
      }),
    );
  });
});

test('a budget that cannot be read is named by its place', () => {
  expect(unreadableBudget(withBudgets({ nodes: '1' }, { nodes: '-1' }))).toBe(
    'spec.disruption.budgets[1].nodes',
  );
  expect(unreadableBudget(nodePool())).toBeUndefined();
});

test('a pool knows whether its budgets have schedules', () => {
  expect(hasSchedules(withBudgets({ nodes: '1', schedule: '@daily', duration: '1h' }))).toBe(true);
  expect(hasSchedules(nodePool())).toBe(false);
});
