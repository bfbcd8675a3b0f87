import { expect, test } from 'vitest';

import { isoText } from './iso-text.ts';

test('an instant is written as its date, also when it is asked for again and when time goes back', () => {
  const instants = [0, 1, 1, 1_796_000_000_123, 0, -1];
  expect(instants.map(isoText)).toEqual(instants.map((at) => new Date(at).toISOString()));
});

test('what no date has is an error, and is not remembered', () => {
  expect(() => isoText(Number.NaN)).toThrow(RangeError);
  expect(isoText(5)).toBe('1970-01-01T00:00:00.005Z');
});
