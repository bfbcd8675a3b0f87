import { decode, encode, type Answer, type RecordType } from 'dns-packet';

/** Types of records, by number (RFC 1035, 3596, 8945); ANY stands for all types of a name. */
export const types = {
  A: 1,
  CNAME: 5,
  SOA: 6,
  TXT: 16,
  AAAA: 28,
  TSIG: 250,
  ANY: 255,
} as const;

/** Classes; NONE and ANY turn a record into "not this one" and "whatever there is" (RFC 2136 §2.4, §2.5). */
export const classes = { IN: 1, NONE: 254, ANY: 255 } as const;

/** One record as it stands in a message. */
export interface WireRecord {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  /** Seconds. */
  readonly ttl: number;
  readonly data: Buffer;
}

/** The contents of an update (RFC 2136 §2): all prerequisites hold and all updates happen, or nothing does. */
export interface Update {
  readonly prerequisites: readonly WireRecord[];
  readonly updates: readonly WireRecord[];
}

const headerSize = 12;
/** Of name, type, class, TTL and length, all but the name. */
const recordHead = 10;
/** Opcode 5 in the header's second word. */
const updateFlags = 5 << 11;

/** A name with a length before each label, uncompressed and in lower case, as digests want it (RFC 8945 §4.3.3). */
export function nameBytes(name: string): Buffer {
  const labels = name.toLowerCase().split('.').filter(Boolean);
  const parts = labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  return Buffer.concat([...parts, Buffer.from([0])]);
}

export function recordBytes({ name, type, class: klass, ttl, data }: WireRecord): Buffer {
  const head = Buffer.alloc(recordHead);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(klass, 2);
  head.writeUInt32BE(ttl, 4);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameBytes(name), head, data]);
}

/** What a record of this type holds, from the form that zone files have: an address, a name, text in quotation marks. */
export function dataBytes(type: keyof typeof types, value: string): Buffer {
  const data = type === 'TXT' ? textsIn(value) : value;
  const message = encode({ type: 'response', answers: [{ type, name: '.', data } as Answer] });
  return message.subarray(headerSize + 1 + recordHead); // the root's name is one byte
}

/** The form that zone files have, of what came over the wire. */
export function valueOf({ data }: { readonly data: unknown }): string {
  if (!Array.isArray(data)) return String(data);
  return data.map((text: Buffer) => `"${escaped(text.toString('latin1'))}"`).join(' ');
}

export function queryMessage(name: string, type: RecordType): Buffer {
  return encode({ type: 'query', id: 0, flags: 0, questions: [{ name, type, class: 'IN' }] });
}

export function updateMessage(zone: string, { prerequisites, updates }: Update): Buffer {
  const header = Buffer.alloc(headerSize);
  header.writeUInt16BE(updateFlags, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(prerequisites.length, 6);
  header.writeUInt16BE(updates.length, 8);
  const question = Buffer.from([0, types.SOA, 0, classes.IN]);
  const records = [...prerequisites, ...updates].map(recordBytes);
  return Buffer.concat([header, nameBytes(zone), question, ...records]);
}

/**
 * Where the last record of a message begins: a signature has to be the last (RFC 8945 §5.2), and what is signed is all
 * that stands before it.
 *
 * @returns undefined when there is none
 */
export function lastRecordAt(message: Buffer): number | undefined {
  const [questions, ...sections] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at));
  let at = headerSize;
  let last: number | undefined;
  for (let left = questions ?? 0; left > 0; left--) at = afterName(message, at) + 4;
  for (let left = sections.reduce((sum, count) => sum + count, 0); left > 0; left--) {
    last = at;
    const head = afterName(message, at);
    at = head + recordHead + message.readUInt16BE(head + 8);
  }
  return last;
}

/** The first byte behind a name that begins at `at`; a pointer ends it. */
export function afterName(message: Buffer, at: number): number {
  const length = message.readUInt8(at);
  if (length === 0) return at + 1;
  return length >= 0xc0 ? at + 2 : afterName(message, at + 1 + length);
}

/** A name that stands uncompressed at `at`, without its dot. */
export function nameAt(message: Buffer, at: number): string {
  const length = message.readUInt8(at);
  if (length === 0 || length >= 0xc0) return '';
  const label = message.toString('latin1', at + 1, at + 1 + length);
  const rest = nameAt(message, at + 1 + length);
  return (rest === '' ? label : `${label}.${rest}`).toLowerCase();
}

/** The answers of a response that have the name and the type that were asked for, or lead from that name elsewhere. */
export function answersIn(message: Buffer): readonly Answer[] {
  return decode(message).answers ?? [];
}

function textsIn(value: string): Buffer[] {
  const texts = [...value.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map(([, text = '']) => text);
  return texts.map((text) => Buffer.from(text.replaceAll(/\\(.)/gs, '$1'), 'latin1'));
}

function escaped(text: string): string {
  return text.replaceAll(/["\\]/g, (sign) => `\\${sign}`);
}
