import { expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { timeToAnswer } from './deadline.ts';

test.each([
  ['timeout=2s', seconds(1.8)],
  ['timeout=1m30s', seconds(27)], // no configuration may ask for more than 30 s
  ['', seconds(9)],
  ['timeout=', seconds(9)],
  ['timeout=soon', seconds(9)],
  ['timeout=-5s', seconds(9)],
  ['timeout=0s', seconds(9)],
  ['timeout=Never', seconds(27)],
])('?%s leaves %d ms', (query, expected) => {
  expect(timeToAnswer(query)).toBe(expected);
});
