import fc from 'fast-check';
import { expect, test } from 'vitest';

import { FrameSplitter } from './frames.ts';

function framed(bytes: Uint8Array): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, bytes]);
}

test('frames come out whole wherever the stream was cut', () => {
  const frames = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
  const cuts = fc.array(fc.nat(300), { maxLength: 20 });
  fc.assert(
    fc.property(frames, cuts, (all, at) => {
      const bytes = Buffer.concat(all.map(framed));
      const borders = [0, ...at.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b)];
      const splitter = new FrameSplitter();
      const out = borders.flatMap((from, index) =>
        splitter.push(bytes.subarray(from, borders[index + 1] ?? bytes.length)),
      );
      expect(out.map(({ bytes: own, from, to }) => [...own.subarray(from, to)])).toEqual(
        all.map((frame) => [...frame]),
      );
      expect(splitter.isCut).toBe(false);
    }),
  );
});

test('a stream that ends within a frame or its header is cut', () => {
  for (const left of [1, 4, 6]) {
    const splitter = new FrameSplitter();
    expect(splitter.push(framed(Buffer.from('four')).subarray(0, left))).toEqual([]);
    expect(splitter.isCut).toBe(true);
  }
});

test('what says that gigabytes follow is no frame', () => {
  expect(() => new FrameSplitter().push(Buffer.from('{"type":"ADDED"'))).toThrow(RangeError);
});
