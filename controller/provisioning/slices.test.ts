import { expect, test } from 'vitest';

import { Slices } from './slices.ts';

test('others get their turn while long work goes on', async () => {
  let turns = 0;
  const tick = setInterval(() => (turns += 1), 1);
  await new Slices().each(Array.from({ length: 30 }), () => busy(2));
  clearInterval(tick);
  expect(turns).toBeGreaterThan(5);
});

test('short work is done in one turn, in order', async () => {
  let isElsewhere = false;
  setImmediate(() => (isElsewhere = true));
  const doubled = await new Slices().map([1, 2, 3], (n) => 2 * n);
  expect(doubled).toEqual([2, 4, 6]);
  expect(isElsewhere).toBe(false);
});

test('a turn begins when the last one was given away, not when the work began', async () => {
  const slices = new Slices(5);
  busy(6);
  expect(slices.isDue).toBe(true);
  await slices.next();
  expect(slices.isDue).toBe(false);
});

function busy(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}
