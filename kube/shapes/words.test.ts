import fc from 'fast-check';
import { expect, test } from 'vitest';

import { Times } from './times.ts';
import { Words } from './words.ts';

test('a word is what its bytes say, whichever words came before it', () => {
  const words = new Words();
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
      const bytes = Buffer.from(`"${text}"`);
      const wanted = bytes.toString('utf8', 1, bytes.length - 1);
      expect(words.of(bytes, 1, bytes.length - 1)).toBe(wanted);
    }),
    { numRuns: 500 },
  );
});

test('words that take each other the place stay what they are', () => {
  const words = new Words();
  const names = Array.from({ length: 20_000 }, (_, index) => `node-${index}`);
  const read = (name: string): string => words.of(Buffer.from(name), 0, name.length);
  expect(names.filter((name) => read(name) !== name)).toEqual([]);
  expect(names.filter((name) => read(name) !== name)).toEqual([]);
});

test('bytes that are the codes of a word and not its UTF-8 are another word', () => {
  const words = new Words();
  const [utf8, latin1] = [Buffer.from('é'), Buffer.from([0xe9])];
  expect(words.of(utf8, 0, utf8.length)).toBe('é');
  expect(words.of(latin1, 0, 1)).toBe('\ufffd');
});

test('times are written as the API writes them', () => {
  const times = new Times();
  const seconds = fc.integer({ min: -2_000_000_000, max: 40_000_000_000 });
  fc.assert(
    fc.property(seconds, (second) => {
      const text = times.of(second);
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(Date.parse(text)).toBe(second * 1000);
      expect(times.of(second)).toBe(text);
    }),
  );
});
