import { expect, test } from 'vitest';

import { OneByOne } from './one-by-one.ts';

test('each piece begins when the one before has ended, whatever came of it, in a turn of its own', async () => {
  const line = new OneByOne();
  const told: string[] = [];
  const piece = (name: string, fails = false) =>
    line.do(async () => {
      setImmediate(() => told.push(`turn after ${name} began`));
      told.push(`${name} begins`);
      await Promise.resolve();
      told.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([piece('a'), piece('b', true), piece('c')]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(told).toEqual([
    'a begins',
    'a ends',
    'turn after a began',
    'b begins',
    'b ends',
    'turn after b began',
    'c begins',
    'c ends',
  ]);
});
