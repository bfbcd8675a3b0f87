/** Protobuf as Go writes it, for tests and measurements: what a real API server sends is read by other means only. */

/** How a field is written; maps have their entries sorted by key, as Go has them. */
export type Writing =
  | 'text'
  | 'number'
  | 'flag'
  | 'time'
  | 'quantity'
  | 'json'
  | { readonly map: 'text' | 'quantity' }
  | { readonly list: Writing }
  | { readonly fields: Fields }
  /** IntOrString that is a string. */
  | 'name';

/** Number and writing by the name in JSON; with two numbers it is in a message that JSON does not have. */
export type Fields = Readonly<
  Record<
    string,
    | readonly [number: number, writing: Writing]
    | readonly [outer: number, number: number, writing: Writing]
  >
>;

/** @throws TypeError for a field that the table does not have, so that nothing is left out unnoticed */
export function written(fields: Fields, object: object): Buffer {
  const entries = Object.entries(object).map(([name, value]) => {
    const known = fields[name];
    if (!known) throw new TypeError(`no number is known for ${name}`);
    if (known.length === 2) return { number: known[0], bytes: field(...known, value) };
    const [outer, number, writing] = known;
    return { number: outer, bytes: bytesField(outer, field(number, writing, value)) };
  });
  return Buffer.concat(entries.toSorted((a, b) => a.number - b.number).map(({ bytes }) => bytes));
}

/** A field with the length of its bytes. */
export function bytesField(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

function field(number: number, writing: Writing, value: unknown): Buffer {
  if (value === null) return Buffer.alloc(0);
  if (typeof writing === 'object' && 'list' in writing) {
    const entries = value as readonly unknown[];
    return Buffer.concat(entries.map((entry) => field(number, writing.list, entry)));
  }
  if (typeof writing === 'object' && 'map' in writing) return map(number, writing.map, value);
  if (writing === 'number' || writing === 'flag')
    return Buffer.concat([varint(number * 8), varint(Number(value))]);
  return bytesField(number, message(writing, value));
}

function map(number: number, values: 'text' | 'quantity', value: unknown): Buffer {
  const entries = Object.entries(value as Record<string, string>).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return Buffer.concat(
    entries.map(([key, one]) => {
      const entry = { key: [1, 'text'], value: [2, values] } as const;
      return bytesField(number, written(entry, { key, value: one }));
    }),
  );
}

function message(writing: Exclude<Writing, 'number' | 'flag'>, value: unknown): Buffer {
  if (typeof writing === 'object' && 'fields' in writing)
    return written(writing.fields, value as object);
  switch (writing) {
    case 'time':
      return written({ seconds: [1, 'number'] }, { seconds: Date.parse(String(value)) / 1000 });
    case 'quantity':
      return written({ string: [1, 'text'] }, { string: value });
    case 'json':
      return bytesField(1, Buffer.from(JSON.stringify(value)));
    case 'name':
      return written({ type: [1, 'number'], text: [3, 'text'] }, { type: 1, text: value });
    case 'text':
      return Buffer.from(String(value));
    default:
      throw new TypeError('a list or map is no message');
  }
}
