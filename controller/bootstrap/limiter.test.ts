import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Limiter, perAddress, perClaim } from './limiter.ts';

let clock: FakeClock;
beforeEach(() => {
  clock = new FakeClock();
});

const calls = (limiter: Limiter, caller: string, count: number): number =>
  Array.from({ length: count }).filter(() => limiter.enter(caller) !== undefined).length;

test('a claim may call in vain twenty times, then once a second', async () => {
  const limiter = new Limiter(clock, perClaim);
  expect(calls(limiter, 'a', 50)).toBe(20);
  expect(calls(limiter, 'b', 50)).toBe(20);
  await clock.forward(seconds(3));
  expect(calls(limiter, 'a', 50)).toBe(3);
});

test('a call that was right costs nothing: any number of machines may share a gateway', () => {
  const limiter = new Limiter(clock, perAddress);
  for (let machine = 0; machine < 5000; machine++) limiter.enter('10.0.0.1')?.();
  expect(calls(limiter, '10.0.0.1', 5000)).toBe(1000);
});

test('no more callers are remembered than there is room for', () => {
  const limiter = new Limiter(clock, { ...perClaim, burst: 1, callers: 3 });
  for (const caller of ['a', 'b', 'c']) expect(calls(limiter, caller, 2)).toBe(1);
  expect(calls(limiter, 'd', 2)).toBe(1);
  expect(calls(limiter, 'c', 2)).toBe(0);
  expect(calls(limiter, 'a', 2)).toBe(1); // forgotten
});

test('whatever comes when, no caller gets more than its burst and what time gave back', async () => {
  const step = fc.record({ after: fc.nat(3000), tries: fc.nat(8) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const own = new FakeClock();
      const limiter = new Limiter(own, { ...perClaim, burst: 5 });
      let admitted = 0;
      for (const { after, tries } of steps) {
        // oxlint-disable-next-line no-await-in-loop -- time goes one way
        await own.forward(after);
        admitted += calls(limiter, 'a', tries);
      }
      const passed = steps.reduce((sum, { after }) => sum + after, 0);
      expect(admitted).toBeLessThanOrEqual(5 + passed / 1000);
    }),
  );
});
