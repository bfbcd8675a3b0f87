import fc from 'fast-check';
import { expect, test } from 'vitest';

import { fromHex, toHex } from './bits.ts';

test('what goes in comes out, and nothing beyond the end', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 40 }), (flags) => {
      const hex = toHex(flags);
      expect(flags.map((_, index) => fromHex(hex, index))).toEqual(flags);
      expect(hex).toHaveLength(Math.ceil(flags.length / 4));
      expect(fromHex(hex, flags.length)).toBe(false);
    }),
  );
});

test('the first is the lowest bit of the first digit', () => {
  expect(toHex([true, false, false, false, false, true])).toBe('12');
});
