import { beforeEach, expect, test } from 'vitest';

import { minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Lookups } from './lookups.ts';

const pace = { fresh: minutes(5), first: seconds(5), longest: minutes(1) };
let clock: FakeClock;
let lookups: Lookups;
let calls: number;

beforeEach(() => {
  clock = new FakeClock();
  lookups = new Lookups(clock);
  calls = 0;
});

async function ask(answer: string | Error): Promise<string> {
  return lookups.ask('uid', 'spec-1 image', pace, async () => {
    calls += 1;
    if (answer instanceof Error) throw answer;
    return answer;
  });
}

test('an answer is good for its time and then asked for again', async () => {
  expect(await ask('ami-1')).toBe('ami-1');
  await clock.forward(minutes(4));
  expect(await ask('ami-2')).toBe('ami-1');
  expect(lookups.dueIn('uid')).toBe(minutes(1));
  await clock.forward(minutes(1));
  expect(await ask('ami-2')).toBe('ami-2');
  expect(calls).toBe(2);
});

test('failures are asked about after 5, 10, 20, 40, 60 and 60 seconds', async () => {
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 6; attempt++) {
    await expect(ask(new Error('busy'))).rejects.toThrow('busy');
    await expect(ask('would be fine')).rejects.toThrow('busy'); // remembered
    pauses.push((lookups.dueIn('uid') ?? 0) / 1000);
    await clock.forward(lookups.dueIn('uid') ?? 0);
  }
  expect(pauses).toEqual([5, 10, 20, 40, 60, 60]);
  expect(calls).toBe(6);
});

test('a success makes the next failure a first one', async () => {
  await expect(ask(new Error('busy'))).rejects.toThrow('busy');
  await clock.forward(seconds(5));
  await ask('ami-1');
  await clock.forward(minutes(5));
  await expect(ask(new Error('busy'))).rejects.toThrow('busy');
  expect(lookups.dueIn('uid')).toBe(seconds(5));
});

test('another spec forgets the answers to the one before', async () => {
  await ask('ami-1');
  lookups.keepOnly('uid', 'spec-2');
  expect(lookups.dueIn('uid')).toBeUndefined();
  expect(await ask('ami-2')).toBe('ami-2');
});
