import fc from 'fast-check';
import { expect, test } from 'vitest';

import { backoff } from './backoff.ts';

test('waits grow to ten seconds, and are never shorter than a quarter of one', () => {
  expect([1, 2, 3, 4, 5, 6, 60].map((failures) => backoff(failures, 0.5))).toEqual([
    500, 1000, 2000, 4000, 8000, 10_000, 10_000,
  ]);
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), chance, (failures, random) => {
      const wait = backoff(failures, random);
      expect(wait).toBeGreaterThanOrEqual(250);
      expect(wait).toBeLessThanOrEqual(15_000);
    }),
  );
});
