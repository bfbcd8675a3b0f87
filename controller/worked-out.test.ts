import { expect, test } from 'vitest';

import { WorkedOut } from './worked-out.ts';

test('the same question about the same list is worked out once, another or about another again', () => {
  const sums = new WorkedOut<number>();
  let worked = 0;
  const sum = (list: readonly number[], times: number): number =>
    sums.of(list, String(times), () => {
      worked += 1;
      return list.reduce((a, b) => a + b, 0) * times;
    });
  const list = [1, 2, 3];
  expect([sum(list, 1), sum(list, 1), sum(list, 2), sum([4], 1), sum(list, 1)]).toEqual([
    6, 6, 12, 4, 6,
  ]);
  expect(worked).toBe(3);
});

test('as many questions as there may be, each has its own answer', () => {
  const squares = new WorkedOut<number>();
  const list: unknown[] = [];
  const answers = Array.from({ length: 1000 }, (_, n) => squares.of(list, String(n), () => n * n));
  expect(answers.every((answer, n) => answer === n * n)).toBe(true);
});
