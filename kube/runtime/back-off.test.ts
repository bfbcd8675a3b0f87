import fc from 'fast-check';
import { expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { defaultBackOff, waitAfter } from './back-off.ts';

test('the wait doubles with each failure up to the longest', () => {
  const waits = [1, 2, 3, 6, 7, 8, 5000].map((failures) => waitAfter(failures, defaultBackOff, 0));

  expect(waits).toEqual([1, 2, 4, 32, 60, 60, 60].map(seconds));
});

test('chance takes off at most half, and never makes it longer', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1e9 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (failures, random) => {
        const full = waitAfter(failures, defaultBackOff, 0);
        const wait = waitAfter(failures, defaultBackOff, random);
        expect(wait).toBeGreaterThan(full / 2 - 1e-6);
        expect(wait).toBeLessThanOrEqual(full);
      },
    ),
  );
});
