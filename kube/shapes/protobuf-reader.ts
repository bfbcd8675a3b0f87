import type {
  AnyShape,
  Field,
  Kept,
  Leaf,
  List,
  MapShape,
  Message,
  OneOf,
  Shared,
  Template,
} from './any-shape.ts';
import { Essence } from './essence.ts';
import { isKept } from './kept.ts';
import { LeafReader, word } from './leaf-reader.ts';
import { mayBeKept } from './presence.ts';
import type { SharedParts } from './shared-parts.ts';
import { withApart } from './templates.ts';
import { Cursor, expect, wire } from './wire.ts';

/** What an object is, which protobuf says beside it. */
export interface TypeMeta {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** A list grows by one place at a time up to here, since most stay short and an array that grew has much room. */
const short = 8;

/**
 * Makes what is kept of an object's protobuf. Nothing is made of what is dropped: its length stands before it, and it is
 * passed over in one step.
 */
export class ProtobufReader {
  readonly #partsOf: (shape: Shared | Template) => SharedParts;
  readonly #leaves = new LeafReader();
  readonly #essence = new Essence();

  constructor(partsOf: (shape: Shared | Template) => SharedParts) {
    this.#partsOf = partsOf;
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

  #fill(kept: Kept, { byNumber }: Message, cursor: Cursor, end: number): void {
    while (cursor.at < end) {
      const start = cursor.at;
      const tag = cursor.varint();
      const field = byNumber[tag >>> 3];
      if (field === undefined) cursor.skip(tag & 7, end);
      else if (field.shape.kind === 'shared') this.#shared(kept, field, cursor, start, end);
      else this.#field(kept, field, cursor, tag & 7, end);
    }
  }

  /** Of lists and maps each entry is a field of its own on the wire. */
  #field(kept: Kept, { name, shape }: Field, cursor: Cursor, type: number, end: number): void {
    if (shape.kind === 'list') this.#entry(kept, name, shape, cursor, type, end);
    else if (shape.kind === 'map') this.#pair(kept, name, shape, cursor, type, end);
    else if (shape.kind === 'inlined') this.#fill(kept, shape.message, cursor, cursor.end(end));
    else {
      const value = this.#one(shape, cursor, type, end);
      if (value !== undefined) kept[name] = value;
    }
  }

  #entry(
    kept: Kept,
    name: string,
    { entry }: List,
    cursor: Cursor,
    type: number,
    end: number,
  ): void {
    const value = this.#one(entry, cursor, type, end) ?? (entry.kind === 'text' ? '' : undefined);
    if (value === undefined) return;
    const list = kept[name] as unknown[] | undefined;
    if (list === undefined) kept[name] = [value];
    else if (list.length < short) kept[name] = [...list, value];
    else list.push(value);
  }

  /** Of a map in which only some keys are kept nothing is made for the others. */
  #pair(
    kept: Kept,
    name: string,
    { values, only, make: Make }: MapShape,
    cursor: Cursor,
    type: number,
    limit: number,
  ): void {
    expect(type, wire.bytes);
    const end = cursor.end(limit);
    const from = cursor.at;
    const key = this.#leaves.within(cursor, 1, only ?? word, end) as string | undefined;
    if (only && key === undefined) return;
    cursor.at = from;
    const value = this.#leaves.within(cursor, 2, values, end) as string | undefined;
    const map = (kept[name] ??= new Make()) as Record<string, string>;
    map[key ?? ''] = value ?? '';
  }

  /** All its bytes are looked up at once: those of all entries of a list or map, which stand together. */
  #shared(kept: Kept, { name, shape }: Field, cursor: Cursor, start: number, end: number): void {
    const { bytes } = cursor;
    const shared = shape as Shared;
    passAll(shared.shape, cursor, start, end);
    const parts = this.#partsOf(shared);
    const part =
      parts.find(bytes, start, cursor.at) ??
      parts.add(this.#whole(shared.shape, new Cursor(bytes, start), cursor.at));
    kept[name] = kept[name] === undefined ? part : joined(kept[name], part);
  }

  /** @param cursor  at the first tag */
  #whole(shape: List | MapShape | Message, cursor: Cursor, end: number): object {
    const around: { it?: object } = {};
    const field = { name: 'it', shape, isNeeded: false };
    while (cursor.at < end) this.#field(around, field, cursor, cursor.varint() & 7, end);
    return around.it ?? {};
  }

  #one(shape: AnyShape, cursor: Cursor, type: number, end: number): unknown {
    if (isLeaf(shape)) return this.#leaves.read(shape, cursor, type, end);
    if (shape.kind === 'message') return this.#message(shape, cursor, type, end);
    if (shape.kind === 'template') return this.#template(shape, cursor, type, end);
    throw new TypeError(`protobuf has no list of ${shape.kind}s`);
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
    const parts = this.#partsOf(shape);
    const common =
      parts.find(essence.bytes, essence.from, essence.to) ??
      parts.add(this.read(shape.common, new Cursor(bytes, at), end));
    return withApart(shape, common, apart);
  }
}

function isLeaf(shape: AnyShape): shape is Leaf | OneOf {
  const { kind } = shape;
  return kind === 'text' || kind === 'wrapped' || kind === 'numeric' || kind === 'oneOf';
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

/** A list or map that is shared and did not stand together, which Go never writes. */
function joined(one: unknown, other: object): unknown {
  return Array.isArray(one) && Array.isArray(other)
    ? [...(one as unknown[]), ...(other as unknown[])]
    : { ...(one as object), ...other };
}
