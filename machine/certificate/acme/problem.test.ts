import fc from 'fast-check';
import { expect, test } from 'vitest';

import { hours, seconds } from '#schemas/time/clock.ts';

import { retryAfterOf } from './problem.ts';

const now = Date.parse('2026-11-30T12:00:00Z');
const week = hours(24 * 7);

test.each([
  ['120', seconds(120)],
  [' 120 ', seconds(120)],
  ['Mon, 30 Nov 2026 13:00:00 GMT', hours(1)],
  ['Mon, 30 Nov 2026 11:00:00 GMT', undefined],
  ['Sun, 30 Nov 2036 12:00:00 GMT', week],
  ['99999999999', week],
  ['Infinity', week],
  ['0', undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
])('an answer that says %o asks to wait for %o', (header, wait) => {
  expect(retryAfterOf(header, now)).toBe(wait);
});

test('whatever an answer says, it is waited for a while or not at all, and for a week at most', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.date().map(String), fc.double().map(String)), (header) => {
      const wait = retryAfterOf(header, now);
      expect(wait === undefined || (wait > 0 && wait <= week)).toBe(true);
    }),
  );
});
