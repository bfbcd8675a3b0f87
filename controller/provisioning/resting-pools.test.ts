import { expect, test } from 'vitest';

import { minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { RestingPools } from './resting-pools.ts';

test('a pool that is refused rests longer each time, and no other pool with it', async () => {
  const clock = new FakeClock();
  const resting = new RestingPools(clock, undefined, () => 0.5);
  resting.refused('long', 'its name is too long');
  expect(resting.whyResting('long')).toBe('its name is too long');
  expect(resting.whyResting('web')).toBeUndefined();

  await clock.forward(seconds(5));
  expect(resting.whyResting('long')).toBeUndefined();
  for (let refusal = 0; refusal < 6; refusal++) resting.refused('long', 'still');
  await clock.forward(seconds(5));
  expect(resting.whyResting('long')).toBe('still');
  await clock.forward(minutes(2));
  expect(resting.whyResting('long')).toBeUndefined();
});

test('a claim that could be made ends the rest', () => {
  const resting = new RestingPools(new FakeClock());
  resting.refused('web', 'no');
  resting.forget('web');
  expect(resting.whyResting('web')).toBeUndefined();
});
