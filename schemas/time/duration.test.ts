import { expect, test } from 'vitest';

import { InvalidDuration, parseDuration } from './duration.ts';

test.each([
  ['5s', 5000],
  ['1h30m', 5_400_000],
  ['720h', 2_592_000_000],
  ['1.5h', 5_400_000],
  ['250ms', 250],
  ['0s', 0],
  ['1h'.repeat(60), 216_000_000],
  ['0', 0],
  ['Never', Infinity],
])('%s is %d ms', (text, duration) => {
  expect(parseDuration(text)).toBe(duration);
});

test.each(['', '5', 's', '-5s', '1d', '5 s', 'never', '1h 30m', '1e3s', `${'1h'.repeat(60)}x`])(
  '"%s" is refused, and the message says how to write it',
  (text) => {
    expect(() => parseDuration(text)).toThrow(InvalidDuration);
    expect(() => parseDuration(text)).toThrow('Write it like 30s, 1h30m or 720h');
  },
);
