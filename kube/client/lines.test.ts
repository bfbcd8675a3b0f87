import fc from 'fast-check';
import { expect, test } from 'vitest';

import { LineSplitter } from './lines.ts';

test('lines come out whole wherever the stream was cut', () => {
  const text = fc.string({ unit: 'grapheme' }).map((line) => `a${line.replaceAll(/[\r\n]/g, '')}`);
  const cuts = fc.array(fc.nat(400), { maxLength: 20 });
  fc.assert(
    fc.property(fc.array(text), cuts, (lines, at) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const borders = [0, ...at.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b)];
      const splitter = new LineSplitter();
      const out = borders.flatMap((from, index) =>
        splitter.push(bytes.subarray(from, borders[index + 1] ?? bytes.length)),
      );
      expect(out).toEqual(lines);
      expect(splitter.rest()).toBe('');
    }),
  );
});

test('blank lines are no lines, and an unfinished one is kept apart', () => {
  const splitter = new LineSplitter();
  expect(splitter.push(Buffer.from('\n{"a":1}\r\n \n{"b'))).toEqual(['{"a":1}\r']);
  expect(splitter.rest()).toBe('{"b');
});
