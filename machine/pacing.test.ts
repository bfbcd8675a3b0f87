import { beforeEach, expect, test } from 'vitest';

import { milliseconds, minutes, seconds } from '#schemas/time/clock.ts';
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
      ({ at }) => at - begin,
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
  await clock.forward(seconds(1));
  pacing.refused(await pacing.turn());
  expect(await turns(2)).toEqual([100, 200]);
});

test('a refusal of a call that had its turn before the last slowing down does not slow down again', async () => {
  pacing.refused(await pacing.turn());
  await clock.forward(milliseconds(1));
  const given = pacing.turn(); // its turn comes later
  const other = pacing.turn();
  await clock.forward(seconds(1));
  pacing.refused(await given);
  pacing.refused(await other);
  expect(await turns(2)).toEqual([100, 200]); // doubled once, not twice
});

test('calls that were under way when turns were slowed down do not bring the rate back', async () => {
  const [early, late] = [await pacing.turn(), await pacing.turn()];
  pacing.refused(early);
  for (let call = 0; call < 40; call += 1) pacing.passed(late);
  expect(await turns(2)).toEqual([50, 100]);
});

test('calls that pass bring the rate back', async () => {
  pacing.refused(await pacing.turn());
  await clock.forward(seconds(1));
  const later = await pacing.turn();
  for (let call = 0; call < 40; call += 1) pacing.passed(later);
  await clock.forward(seconds(1));
  expect(await turns(3)).toEqual([0, 0, 0]);
});

/** Calls one after the other against a quota of each minute; @returns by minute, how many passed and were refused. */
async function minutesOf(paced: Pacing, count: number, quota: number): Promise<number[][]> {
  const begin = clock.now();
  const tallies = Array.from({ length: count }, () => [0, 0]);
  const call = async (): Promise<void> => {
    const turn = await paced.turn();
    const tally = tallies[Math.floor((clock.now() - begin) / minutes(1))];
    if (!tally) return;
    const hasRoom = tally[0]! < quota;
    tally[hasRoom ? 0 : 1]! += 1;
    if (hasRoom) paced.passed(turn);
    else paced.refused(turn);
  };
  const calling = (async () => {
    while (clock.now() < begin + minutes(count)) {
      // oxlint-disable-next-line no-await-in-loop -- one call after the other
      const wasSent = await call().then(
        () => true,
        () => false,
      );
      // oxlint-disable-next-line no-await-in-loop -- a claim comes again after two seconds
      await clock.sleep(wasSent ? milliseconds(50) : seconds(2));
    }
  })();
  await clock.forward(minutes(count) + seconds(10));
  await calling;
  return tallies;
}

test('a quota of the minute that is used up is asked for again when the next minute begins', async () => {
  await clock.forward(seconds(60) - (Date.parse(clock.stamp()) % seconds(60)));
  const tallies = await minutesOf(new Pacing(clock, { isPerMinute: true }), 4, 100);
  expect(tallies.map(([passed]) => passed)).toEqual([100, 100, 100, 100]);
  for (const [, refused] of tallies) expect(refused).toBeLessThanOrEqual(6);
});

/** How long 300 calls together take until each has passed, of 20 a second, and when each comes again after two seconds. */
async function burst(paced: Pacing): Promise<number> {
  const begin = clock.now();
  let [tokens, at, last] = [20, begin, begin];
  const passes = (): boolean => {
    const now = clock.now();
    tokens = Math.min(20, tokens + ((now - at) / seconds(1)) * 20);
    at = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
  const call = async (): Promise<void> => {
    const turn = await paced.turn().catch(() => undefined);
    if (turn !== undefined) await clock.sleep(milliseconds(20));
    if (turn !== undefined && passes()) {
      last = clock.now();
      paced.passed(turn);
      return undefined;
    }
    if (turn !== undefined) paced.refused(turn);
    await clock.sleep(seconds(2));
    return call();
  };
  const all = Promise.all(Array.from({ length: 300 }, call));
  await clock.forward(minutes(5));
  await all;
  return last - begin;
}

test('a burst against a limit of the second is not slower for it', async () => {
  const plain = await burst(new Pacing(clock));
  const perMinute = await burst(new Pacing(clock, { isPerMinute: true }));
  expect(perMinute).toBe(plain);
  expect(perMinute).toBeLessThan(seconds(60));
});

test('a turn that is more than five seconds away is refused without a call', async () => {
  pacing.refused(await pacing.turn());
  const all = await turns(110);
  expect(all.slice(99)).toEqual([5000, ...Array.from({ length: 10 }, () => 'no')]);
  await expect(pacing.turn()).resolves.toBeTypeOf('object');
});
