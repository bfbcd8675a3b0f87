import { expect, test } from 'vitest';

import { milliseconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Notes } from './notes.ts';

function noted(atOnce?: number) {
  const clock = new FakeClock();
  const taken: number[] = [];
  const notes = new Notes(clock, atOnce);
  return { clock, taken, notes, add: (which: number) => notes.add(() => taken.push(which)) };
}

test('are taken together, in order, when enough wait', () => {
  const { taken, add } = noted(3);
  add(1);
  add(2);
  expect(taken).toEqual([]);
  add(3);
  expect(taken).toEqual([1, 2, 3]);
});

test('do not wait for others longer than a second, counted from the first', async () => {
  const { clock, taken, add } = noted();
  add(1);
  await clock.forward(milliseconds(600));
  add(2);
  await clock.forward(milliseconds(399));
  expect(taken).toEqual([]);
  await clock.forward(milliseconds(1));
  expect(taken).toEqual([1, 2]);
});

test('are taken once, also when somebody asks for them before their time', async () => {
  const { clock, taken, notes, add } = noted();
  add(1);
  notes.flush();
  add(2);
  await clock.forward(milliseconds(5000));
  expect(taken).toEqual([1, 2]);
});
