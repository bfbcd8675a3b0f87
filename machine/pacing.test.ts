import { beforeEach, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Pacing } from './pacing.ts';

let clock: FakeClock;
let pacing: Pacing;
beforeEach(() => {
  clock = new FakeClock();
  pacing = new Pacing(clock);
});

/** When each of so many calls that are made together has its turn, in milliseconds from now; `no` for none. */
async function turns(calls: number): Promise<(number | 'no')[]> {
  const begin = clock.now();
  const all = Array.from({ length: calls }, async () =>
    pacing.turn().then(
      (at) => at - begin,
      () => 'no' as const,
    ),
  );
  await clock.forward(seconds(6));
  return Promise.all(all);
}

test('nobody waits while the cloud takes all', async () => {
  expect(await turns(3)).toEqual([0, 0, 0]);
});

test('after a refusal calls follow one another by a twentieth of a second', async () => {
  pacing.refused(await pacing.turn());
  expect(await turns(4)).toEqual([50, 100, 150, 200]);
});

test('refusals of calls that were under way together count as one, a later one doubles the gap', async () => {
  const [one, two] = await Promise.all([pacing.turn(), pacing.turn()]);
  pacing.refused(one);
  pacing.refused(two);
  expect(await turns(2)).toEqual([50, 100]);
  pacing.refused(clock.now());
  expect(await turns(2)).toEqual([100, 200]);
});

test('calls that pass bring the rate back', async () => {
  pacing.refused(await pacing.turn());
  for (let call = 0; call < 40; call += 1) pacing.passed();
  await clock.forward(seconds(1));
  expect(await turns(3)).toEqual([0, 0, 0]);
});

test('a turn that is more than five seconds away is refused without a call', async () => {
  pacing.refused(await pacing.turn());
  const all = await turns(110);
  expect(all.slice(99)).toEqual([5000, ...Array.from({ length: 10 }, () => 'no')]);
  await expect(pacing.turn()).resolves.toBeTypeOf('number');
});
