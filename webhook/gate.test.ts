import { expect, test } from 'vitest';

import { eventLoopDelay, Gate } from './gate.ts';

const sheds = { sheds: true };

test('as many calls of hooks that shed as there is room for; the others count, and come in', () => {
  const gate = new Gate(() => 0, { calls: 2 });
  const leave = gate.enter(1, sheds);
  gate.enter(1, { sheds: false });
  expect(() => gate.enter(1, sheds)).toThrow('too much to do');
  gate.enter(1, { sheds: false });
  expect(gate.calls).toBe(3);
  leave();
  expect(gate.calls).toBe(2);
});

test('a body larger than the room that is left is refused, whoever sends it', () => {
  const gate = new Gate(() => 0, { bytes: 10 });
  gate.enter(6, sheds);
  expect(() => gate.enter(5, { sheds: false })).toThrow('too much to do');
  gate.enter(4, sheds);
});

test('one long turn of the event loop is no reason to turn anybody away; many are', async () => {
  const times = [0];
  const delay = eventLoopDelay(() => times.at(-1) ?? 0);
  await turns([...Array<number>(20).fill(0), 120]);
  times.push(1000);
  expect(delay()).toBeLessThan(100);
  await turns(Array<number>(6).fill(60));
  times.push(1500);
  expect(delay()).toBeLessThan(100); // asked too soon: the last look counts
  times.push(2000);
  expect(delay()).toBeGreaterThan(50);
});

/** Turns of the event loop, each of which takes so many milliseconds of work, and about ten of rest. */
async function turns(lengths: readonly number[]): Promise<void> {
  for (const length of lengths) {
    const end = performance.now() + length;
    while (performance.now() < end);
    await new Promise((done) => setTimeout(done, length > 0 ? 0 : 10)); // oxlint-disable-line no-await-in-loop
  }
}
