import fc from 'fast-check';
import { expect, test } from 'vitest';

import { Times } from './times.ts';
import { MalformedMessage } from './wire.ts';

const far = 8.64e12;

test('times are written as JSON has them, whichever came before', () => {
  const times = new Times();
  const near = fc.integer({ min: -100_000, max: 4_000_000_000 });
  fc.assert(
    fc.property(fc.array(fc.oneof(near, fc.integer({ min: -far, max: far }))), (seconds) => {
      for (const second of [...seconds, 0, 86_399, 86_400, -1, far])
        expect(times.of(second)).toBe(new Date(second * 1000).toISOString().replace('.000', ''));
    }),
  );
});

test('what no calendar has is no time', () => {
  const times = new Times();
  for (const second of [far + 1, -far - 1, 2 ** 63])
    expect(() => times.of(second)).toThrow(MalformedMessage);
});
