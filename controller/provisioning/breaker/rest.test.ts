import fc from 'fast-check';
import { expect, test } from 'vitest';

import { hours, minutes } from '#schemas/time/clock.ts';

import { allowed, restAfter } from './rest.ts';

/** When each machine is made if every one is in vain and the next comes as soon as it may. */
function launchesWithin(end: number, between = minutes(1)): number[] {
  const made: number[] = [];
  for (let next = 0; next < end; next = restAfter(made)?.until ?? next + between) made.push(next);
  return made;
}

test('three are made, then one after 10 minutes, 20, 40, … and each 4 hours in the end', () => {
  const made = launchesWithin(hours(24));
  const pauses = made.slice(1).map((at, index) => (at - (made[index] ?? 0)) / minutes(1));
  expect(pauses).toEqual([1, 1, 10, 20, 40, 80, 160, 240, 240, 240, 240]);
});

test('machines that were made for one burst are one try', () => {
  const burst = Array.from({ length: 200 }, (_, index) => index * 10);
  expect(restAfter(burst)).toEqual({
    machines: 200,
    pause: minutes(10),
    until: 1990 + minutes(10),
  });
});

test('there is no rest before the third, and none is longer than 4 hours', () => {
  const instants = fc.array(fc.integer({ min: 0, max: hours(48) }), { maxLength: 30 });
  fc.assert(
    fc.property(instants, (made) => {
      const rest = restAfter(made.toSorted((a, b) => a - b));
      expect(rest === undefined).toBe(made.length < allowed);
      expect(rest?.pause ?? minutes(10)).toBeGreaterThanOrEqual(minutes(10));
      expect(rest?.pause ?? 0).toBeLessThanOrEqual(hours(4));
    }),
  );
});
