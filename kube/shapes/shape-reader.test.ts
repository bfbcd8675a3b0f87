import fc from 'fast-check';
import { expect, test } from 'vitest';

import { bytesField, varint, written, type Fields } from '../testing/protobuf-writer.ts';
import { ShapeReader } from './shape-reader.ts';
import {
  at,
  dropped,
  flag,
  list,
  message,
  nonZero,
  number,
  oneOf,
  only,
  quantities,
  set,
  shared,
  text,
  texts,
  time,
  within,
  word,
} from './shape.ts';
import { MalformedMessage } from './wire.ts';

interface Part {
  kind?: string;
  note?: string;
}

interface Thing {
  name?: string;
  zone?: string;
  count?: number;
  port?: number;
  isOpen?: boolean;
  isHost?: boolean;
  since?: string;
  labels?: Record<string, string>;
  notes?: Record<string, string>;
  requests?: Record<string, string>;
  tags?: readonly string[];
  parts?: readonly Part[];
  rules?: { topologyKey?: string; part?: Part };
  claim?: { name?: string };
  secret?: string;
}

const part = message<Part>({ kind: at(1, oneOf('this', 'that')), note: at(2, text) });
const shape = message<Thing>({
  name: at(1, text),
  zone: at(2, word),
  count: at(3, number),
  port: at(4, nonZero),
  isOpen: at(5, flag),
  isHost: at(6, set),
  since: at(7, time),
  labels: at(8, shared(texts())),
  notes: at(9, only('kept')),
  requests: at(10, shared(quantities())),
  tags: at(11, shared(list(text))),
  parts: at(12, list(part)),
  rules: at(
    13,
    shared(message<NonNullable<Thing['rules']>>({ topologyKey: at(1, word), part: at(2, part) })),
  ),
  claim: within(14, 3, message<NonNullable<Thing['claim']>>({ name: at(1, text) })),
  secret: dropped,
});

const partFields: Fields = { kind: [1, 'text'], note: [2, 'text'] };
const fields: Fields = {
  name: [1, 'text'],
  zone: [2, 'text'],
  count: [3, 'number'],
  port: [4, 'number'],
  isOpen: [5, 'flag'],
  isHost: [6, 'flag'],
  since: [7, 'time'],
  labels: [8, { map: 'text' }],
  notes: [9, { map: 'text' }],
  requests: [10, { map: 'quantity' }],
  tags: [11, { list: 'text' }],
  parts: [12, { list: { fields: partFields } }],
  rules: [13, { fields: { topologyKey: [1, 'text'], part: [2, { fields: partFields }] } }],
  claim: [14, 3, { fields: { name: [1, 'text'] } }],
  secret: [200, 'text'],
};

const spanOfAll = (bytes: Buffer) => ({ bytes, from: 0, to: bytes.length });
const words = fc.constantFrom('', 'a', 'zone-1', 'Gerät 🚀', 'x'.repeat(200));
const keys = fc.constantFrom('kept', 'app', 'example.com/other', 'tier');
const anyPart = fc.record(
  { kind: fc.constantFrom('this', 'that', 'else'), note: words },
  { requiredKeys: [] },
);
const stamp = (second: number): string => new Date(second * 1000).toISOString().replace('.000', '');
const anyThing = fc.record(
  {
    name: words,
    zone: words,
    count: fc.integer(),
    port: fc.nat(3),
    isOpen: fc.boolean(),
    isHost: fc.boolean(),
    since: fc.nat(4_000_000_000).map(stamp),
    labels: fc.dictionary(keys, words),
    notes: fc.dictionary(keys, words),
    requests: fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.constantFrom('1', '64Mi')),
    tags: fc.array(words, { maxLength: 3 }),
    parts: fc.array(anyPart, { maxLength: 4 }),
    rules: fc.record({ topologyKey: words, part: anyPart }, { requiredKeys: [] }),
    claim: fc.record({ name: words }, { requiredKeys: [] }),
    secret: words,
  },
  { requiredKeys: [] },
);

test('the same is kept of an object whether it comes as protobuf or as JSON', () => {
  const reader = new ShapeReader(shape);
  fc.assert(
    fc.property(anyThing, (thing) => {
      const kept = reader.fromProtobuf(spanOfAll(written(fields, thing)));
      expect(kept).toEqual(reader.fromJson(thing));
    }),
    { numRuns: 1000 },
  );
});

test('what is kept is as it was, and nothing else is there', () => {
  const thing = {
    name: 'one',
    count: 0,
    port: 0,
    isOpen: false,
    isHost: false,
    labels: { app: '' },
    notes: { kept: 'yes', other: 'no' },
    parts: [
      { kind: 'else', note: 'gone' },
      { kind: 'this', note: 'here' },
    ],
    secret: 'not for us',
  };
  const kept = {
    name: 'one',
    count: 0,
    isOpen: false,
    labels: { app: '' },
    notes: { kept: 'yes' },
    parts: [{ kind: 'this', note: 'here' }],
  };
  const reader = new ShapeReader(shape);
  expect(reader.fromProtobuf(spanOfAll(written(fields, thing)))).toStrictEqual(kept);
  expect(reader.fromJson(thing)).toStrictEqual(kept);
});

test('fields that a newer server has are passed over, however they are written', () => {
  const reader = new ShapeReader(shape);
  const newer = Buffer.concat([
    varint(300 * 8),
    varint(-7),
    bytesField(301, Buffer.from('new')),
    Buffer.concat([varint(302 * 8 + 1), Buffer.alloc(8)]),
    Buffer.concat([varint(303 * 8 + 5), Buffer.alloc(4)]),
  ]);
  const bytes = Buffer.concat([newer, written(fields, { name: 'one' }), newer]);
  expect(reader.fromProtobuf(spanOfAll(bytes))).toEqual({ name: 'one' });
});

test('a list that does not stand together is one list all the same', () => {
  const first = { tags: ['a'], labels: { a: '1' } };
  const second = { tags: ['b'], labels: { b: '2' } };
  const bytes = Buffer.concat([written(fields, first), written(fields, second)]);
  expect(new ShapeReader(shape).fromProtobuf(spanOfAll(bytes))).toEqual({
    tags: ['a', 'b'],
    labels: { a: '1', b: '2' },
  });
});

test('twins have their parts in common, and one that changes leaves the other as it was', () => {
  const reader = new ShapeReader(shape);
  const read = (thing: object): Thing => reader.fromProtobuf(spanOfAll(written(fields, thing)));
  const common = { labels: { app: 'web' }, requests: { cpu: '1' }, tags: ['a'] };
  const [one, two] = [read({ name: 'one', ...common }), read({ name: 'two', ...common })];
  expect(two.labels).toBe(one.labels);
  expect(two.requests).toBe(one.requests);
  expect(two.tags).toBe(one.tags);

  const changed = read({ name: 'one', ...common, labels: { app: 'web', version: '2' } });
  expect(changed.labels).toEqual({ app: 'web', version: '2' });
  expect(two).toEqual({ name: 'two', ...common });
  expect(read({ name: 'three', ...common }).labels).toBe(two.labels);
});

test('bytes that are no message are refused, and nothing worse', () => {
  const reader = new ShapeReader(shape);
  const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
  const cut = fc
    .tuple(anyThing, fc.nat(200))
    .map(([thing, end]) => written(fields, thing).subarray(0, end));
  fc.assert(
    fc.property(fc.oneof(noise, cut), (bytes) => {
      expect(outcomeOf(() => reader.fromProtobuf(spanOfAll(bytes)))).toMatch(/^(read|refused)$/);
    }),
    { numRuns: 1000 },
  );
});

function outcomeOf(read: () => object): string {
  try {
    return typeof read() === 'object' ? 'read' : 'odd';
  } catch (error) {
    return error instanceof MalformedMessage ? 'refused' : String(error);
  }
}

test('a field that is written in another way than its shape says is refused', () => {
  const reader = new ShapeReader(shape);
  for (const bytes of [
    Buffer.concat([varint(1 * 8), varint(1)]),
    bytesField(3, Buffer.from('x')),
    Buffer.concat([varint(8 * 8), varint(1)]),
    Buffer.concat([varint(13 * 8), varint(1)]),
  ])
    expect(() => reader.fromProtobuf(spanOfAll(bytes))).toThrow(MalformedMessage);
});
