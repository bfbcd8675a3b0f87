import { beforeEach, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Batcher } from './batcher.ts';

const signal = new AbortController().signal;
let clock: FakeClock;
let batcher: Batcher;
let closed: boolean;
beforeEach(() => {
  clock = new FakeClock();
  batcher = new Batcher(clock, { idle: seconds(1), max: seconds(10) });
  closed = false;
  void batcher.next(signal).then(() => {
    closed = true;
  });
});

test('without a trigger no window opens', async () => {
  await clock.forward(seconds(60));
  expect(closed).toBe(false);
});

test('K1: a window closes when nothing new comes for a second', async () => {
  batcher.trigger('a');
  await clock.forward(999);
  expect(closed).toBe(false);
  await clock.forward(1);
  expect(closed).toBe(true);
});

test('K2 K3: the same Pod does not extend it, a new one does', async () => {
  batcher.trigger('a');
  await clock.forward(900);
  batcher.trigger('a');
  batcher.trigger('b');
  await clock.forward(900);
  batcher.trigger('b');
  await clock.forward(99);
  expect(closed).toBe(false);
  await clock.forward(1);
  expect(closed).toBe(true);
});

test('it closes after ten seconds, whatever comes', async () => {
  for (let index = 0; index < 20; index++) {
    batcher.trigger(`pod-${index}`);
    await clock.forward(500);
  }
  expect(closed).toBe(true);
});

test('what came while nobody waited is the next window, with its time already running', async () => {
  batcher.trigger('a');
  await clock.forward(seconds(1));
  batcher.trigger('a');
  await clock.forward(seconds(5));
  const before = clock.now();
  await batcher.next(signal);
  expect(clock.now()).toBe(before);
});

test('an abort ends the wait', async () => {
  const stop = new AbortController();
  const waiting = new Batcher(clock, { idle: 1, max: 1 }).next(stop.signal);
  stop.abort(new Error('no more leader'));
  await expect(waiting).rejects.toThrow('no more leader');
});
