import { afterEach, beforeEach, expect, test } from 'vitest';

import { seconds, type Duration } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Upkeep } from './upkeep.ts';

/** Counts its looks, and asks for the next one in ten seconds. */
class Counting extends Upkeep {
  readonly name = 'counting';
  looks = 0;

  override async look(): Promise<Duration> {
    this.looks += 1;
    this.standing.trouble = undefined;
    return Promise.resolve(seconds(10));
  }
}

let clock: FakeClock;
let upkeep: Counting;
let stop: AbortController;
let ended: Promise<void>;

beforeEach(async () => {
  clock = new FakeClock();
  upkeep = new Counting(clock, 'nothing has been looked at');
  stop = new AbortController();
  ended = upkeep.run(stop.signal);
  await clock.forward(0);
});

afterEach(async () => {
  stop.abort();
  await ended;
});

test('before its first look it has the trouble that it was given', () => {
  expect(new Counting(clock, 'nothing has been looked at').trouble).toBe(
    'nothing has been looked at',
  );
});

test('it looks at once, and again when the last look said so', async () => {
  expect([upkeep.looks, upkeep.trouble]).toEqual([1, undefined]);
  await clock.forward(seconds(9));
  expect(upkeep.looks).toBe(1);
  await clock.forward(seconds(1));
  expect(upkeep.looks).toBe(2);
});

test('it looks sooner when it is woken, once for any number of calls', async () => {
  upkeep.wake();
  upkeep.wake();
  await clock.forward(0);
  expect(upkeep.looks).toBe(2);
  await clock.forward(seconds(9));
  expect(upkeep.looks).toBe(2);
});

test('it ends with its signal, in the middle of a wait, and leaves no timer', async () => {
  stop.abort();
  await ended;
  expect(clock.waiting).toBe(0);
});
