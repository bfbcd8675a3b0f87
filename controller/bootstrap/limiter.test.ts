import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Limiter } from './limiter.ts';

let clock: FakeClock;
beforeEach(() => {
  clock = new FakeClock();
});

const calls = (limiter: Limiter, address: string, count: number): number =>
  Array.from({ length: count }).filter(() => limiter.enter(address) !== undefined).length;

test('an address may call in vain twenty times, then once a second', async () => {
  const limiter = new Limiter(clock);
  expect(calls(limiter, '10.0.0.1', 50)).toBe(20);
  expect(calls(limiter, '10.0.0.2', 50)).toBe(20);
  await clock.forward(seconds(3));
  expect(calls(limiter, '10.0.0.1', 50)).toBe(3);
});

test('a call that was right costs nothing: a hundred machines may share a gateway', () => {
  const limiter = new Limiter(clock);
  for (let machine = 0; machine < 100; machine++) limiter.enter('10.0.0.1')?.();
  expect(calls(limiter, '10.0.0.1', 50)).toBe(20);
});

test('no more addresses are remembered than there is room for', () => {
  const limiter = new Limiter(clock, { burst: 1, addresses: 3 });
  for (const address of ['a', 'b', 'c']) expect(calls(limiter, address, 2)).toBe(1);
  expect(calls(limiter, 'd', 2)).toBe(1);
  expect(calls(limiter, 'c', 2)).toBe(0);
  expect(calls(limiter, 'a', 2)).toBe(1); // forgotten
});

test('whatever comes when, no address gets more than its burst and what time gave back', async () => {
  const step = fc.record({ after: fc.nat(3000), tries: fc.nat(8) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const own = new FakeClock();
      const limiter = new Limiter(own, { burst: 5, refill: seconds(1) });
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
