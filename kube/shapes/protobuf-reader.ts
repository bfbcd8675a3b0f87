import type {
  AnyShape,
  Field,
  Kept,
  Leaf,
  List,
  MapShape,
  Message,
  Shared,
  Template,
} from './any-shape.ts';
import { Essence } from './essence.ts';
import { isKept } from './kept.ts';
import { LeafReader, word } from './leaf-reader.ts';
import { mayBeKept } from './presence.ts';
import { withApart } from './templates.ts';
import { Cursor, expect, wire, type Span } from './wire.ts';

/** What an object is, which protobuf says beside it. */
export interface TypeMeta {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** The part that is so written, made only where none is known. */
type Share = (shape: Shared | Template, written: Span, make: () => object) => object;

/**
 * Makes what is kept of an object's protobuf. Nothing is made of what is dropped: its length stands before it, and it is
 * passed over in one step.
 */
export class ProtobufReader {
  readonly #share: Share;
  readonly #leaves = new LeafReader();
  readonly #essence = new Essence();

  constructor(share: Share) {
    this.#share = share;
  }

  /**
   * @param cursor  at the message, which ends at `end`
   * @param type  what is told beside the message
   * @throws MalformedMessage
   */
  read(shape: Message, cursor: Cursor, end: number, { apiVersion, kind }: TypeMeta = {}): Kept {
    const kept = new shape.make();
    if (apiVersion !== undefined) kept['apiVersion'] = apiVersion;
    if (kind !== undefined) kept['kind'] = kind;
    this.#fill(kept, shape, cursor, end);
    return kept;
  }

  #fill(kept: Kept, shape: Message, cursor: Cursor, end: number): void {
    while (cursor.at < end) {
      const start = cursor.at;
      const tag = cursor.varint();
      const field = shape.byNumber[tag >>> 3];
      if (field === undefined) cursor.skip(tag & 7, end);
      else if ('inlined' in field) this.#fill(kept, field.inlined, cursor, cursor.end(end));
      else if (isComposed(field.shape)) this.#compose(kept, field, cursor, start, end);
      else {
        const value = this.#one(field.shape, cursor, tag & 7, end);
        if (value !== undefined) kept[field.name] = value;
      }
    }
  }

  /** A field that is read as a whole: all entries of a list or map, which stand together, and what is shared. */
  #compose(kept: Kept, { name, shape }: Field, cursor: Cursor, start: number, end: number): void {
    const { bytes } = cursor;
    const whole = shape.kind === 'shared' ? shape.shape : (shape as List | MapShape);
    passAll(whole, cursor, start, end);
    const after = cursor.at;
    const parse = (): object | undefined => this.#parsed(whole, bytes, start, after);
    const value =
      shape.kind === 'shared'
        ? this.#share(shape, { bytes, from: start, to: after }, () => parse() ?? {})
        : parse();
    if (value !== undefined)
      kept[name] = kept[name] === undefined ? value : joined(kept[name], value);
  }

  /** @param from  the place of the first tag */
  #parsed(
    shape: List | MapShape | Message,
    bytes: Buffer,
    from: number,
    end: number,
  ): object | undefined {
    const cursor = new Cursor(bytes, from);
    if (shape.kind === 'list') return this.#list(shape, cursor, end);
    if (shape.kind === 'map') return this.#map(shape, cursor, end);
    return this.#message(shape, cursor, cursor.varint() & 7, end);
  }

  #list({ entry }: List, cursor: Cursor, end: number): unknown[] | undefined {
    const entries: unknown[] = [];
    while (cursor.at < end) {
      const value = this.#one(entry, cursor, cursor.varint() & 7, end);
      if (value !== undefined) entries.push(value);
      else if (entry.kind === 'text') entries.push('');
    }
    return entries.length > 0 ? entries.slice() : undefined; // an array that grew has room for sixteen more
  }

  /** Keys are looked at first, so that nothing is made of the values of those that are not kept. */
  #map({ values, only, make: Make }: MapShape, cursor: Cursor, end: number): object | undefined {
    const map = new Make();
    let isEmpty = true;
    while (cursor.at < end) {
      expect(cursor.varint() & 7, wire.bytes);
      const entryEnd = cursor.end(end);
      const from = cursor.at;
      const key = (this.#leaves.within(cursor, 1, word, entryEnd) as string | undefined) ?? '';
      if (only?.has(key) === false) continue;
      cursor.at = from;
      const value = this.#leaves.within(cursor, 2, valuesOf[values], entryEnd);
      map[key] = (value as string | undefined) ?? '';
      isEmpty = false;
    }
    return isEmpty ? undefined : map;
  }

  #one(shape: AnyShape, cursor: Cursor, type: number, end: number): unknown {
    if (shape.kind === 'message') return this.#message(shape, cursor, type, end);
    if (shape.kind === 'template') return this.#template(shape, cursor, type, end);
    if (isComposed(shape)) throw new TypeError(`protobuf has no list of ${shape.kind}s`);
    return this.#leaves.read(shape, cursor, type, end);
  }

  #message(shape: Message, cursor: Cursor, type: number, limit: number): Kept | undefined {
    expect(type, wire.bytes);
    const end = cursor.end(limit);
    if (!mayBeKept(shape, cursor, end)) {
      cursor.at = end;
      return undefined;
    }
    const kept = new shape.make();
    this.#fill(kept, shape, cursor, end);
    return isKept(kept, shape.needs) ? kept : undefined;
  }

  /** What is known by its essence is not made again. */
  #template(shape: Template, cursor: Cursor, type: number, limit: number): Kept {
    expect(type, wire.bytes);
    const end = cursor.end(limit);
    const { bytes, at } = cursor;
    const apart = this.#leaves.within(cursor, shape.apart.place, shape.apart.shape, end);
    cursor.at = at;
    const essence = this.#essence.of(shape.common, cursor, end);
    const make = (): Kept => this.read(shape.common, new Cursor(bytes, at), end);
    return withApart(shape, this.#share(shape, essence, make), apart);
  }
}

function isComposed(shape: AnyShape): shape is List | MapShape | Shared {
  return shape.kind === 'list' || shape.kind === 'map' || shape.kind === 'shared';
}

/** Goes past the field whose tag was just read, and past those with the same tag where they are one list or map. */
function passAll(shape: AnyShape, cursor: Cursor, start: number, end: number): void {
  const after = cursor.at;
  cursor.at = start;
  const tag = cursor.varint();
  cursor.at = after;
  expect(tag & 7, wire.bytes);
  cursor.skip(wire.bytes, end);
  while (shape.kind !== 'message' && cursor.at < end) {
    const next = cursor.at;
    if (cursor.varint() !== tag) {
      cursor.at = next;
      return;
    }
    cursor.skip(wire.bytes, end);
  }
}

/** A list or map that did not stand together, which Go never writes. */
function joined(one: unknown, other: object): unknown {
  return Array.isArray(one) && Array.isArray(other)
    ? [...(one as unknown[]), ...(other as unknown[])]
    : { ...(one as object), ...other };
}

const valuesOf: Readonly<Record<MapShape['values'], Leaf>> = {
  text: { kind: 'text', isWord: false },
  word,
  quantity: { kind: 'wrapped', as: 'quantity' },
};
