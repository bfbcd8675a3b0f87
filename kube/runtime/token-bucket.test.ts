import { expect, test } from 'vitest';

import { hours, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { TokenBucket } from './token-bucket.ts';

/** How many get through now. */
function taken(bucket: TokenBucket): number {
  let count = 0;
  while (bucket.take()) count += 1;
  return count;
}

test('a burst at once, then so many a second, and never more than a burst', async () => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(clock, { perSecond: 2, burst: 5 });

  expect(taken(bucket)).toBe(5);
  await clock.forward(seconds(2));
  expect(taken(bucket)).toBe(4);
  await clock.forward(seconds(0.25));
  expect(taken(bucket)).toBe(0);
  await clock.forward(seconds(0.25));
  expect(taken(bucket)).toBe(1);
  await clock.forward(hours(1));
  expect(taken(bucket)).toBe(5);
});
