import fc from 'fast-check';
import { expect, test } from 'vitest';

import { bytesField, varint } from '../testing/protobuf-writer.ts';
import { Cursor, MalformedMessage } from './wire.ts';

test('every number comes back as it was, whatever its size and sign', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      const cursor = new Cursor(varint(value));
      expect(cursor.varint()).toBe(value);
      expect(cursor.at).toBe(cursor.bytes.length);
    }),
  );
});

test('the numbers at which their length changes come back too', () => {
  const borders = [7, 14, 21, 28, 35, 42, 49, 52].flatMap((bits) => [2 ** bits - 1, 2 ** bits]);
  for (const value of [0, -1, ...borders, ...borders.map((one) => -one)])
    expect(new Cursor(varint(value)).varint()).toBe(value);
});

test('a number that is cut, or never ends, is no number', () => {
  for (const bytes of [[], [0x80], [0x80, 0x80], Array<number>(12).fill(0xff)])
    expect(() => new Cursor(Buffer.from(bytes)).varint()).toThrow(MalformedMessage);
});

test('a value is passed over in whatever way it is written', () => {
  const values: [type: number, bytes: Buffer][] = [
    [0, varint(-3)],
    [1, Buffer.alloc(8)],
    [2, bytesField(1, Buffer.from('twelve bytes')).subarray(1)],
    [5, Buffer.alloc(4)],
  ];
  for (const [type, bytes] of values) {
    const cursor = new Cursor(Buffer.concat([bytes, Buffer.from([7])]));
    cursor.skip(type, bytes.length + 1);
    expect(cursor.at).toBe(bytes.length);
    expect(() => new Cursor(bytes).skip(type, bytes.length - 1)).toThrow(MalformedMessage);
  }
  expect(() => new Cursor(Buffer.alloc(8)).skip(3, 8)).toThrow('no wire type is 3');
});
