import {
  alike,
  type Leaf,
  type Numeric,
  type OneOf,
  type Text,
  type Wrapped,
} from './any-shape.ts';
import { valueAt } from './presence.ts';
import { Times } from './times.ts';
import { expect, MalformedMessage, wire, type Cursor } from './wire.ts';
import { Words } from './words.ts';

export const word: Leaf = alike({ kind: 'text', isWord: true });
const number: Leaf = alike({ kind: 'numeric', as: 'number' });

/** Makes texts, numbers and flags; undefined for what means the same as nothing. */
export class LeafReader {
  readonly #words = new Words();
  readonly #times = new Times();

  /**
   * @param type  how it is written
   * @param limit  of the message that it is in
   * @throws MalformedMessage
   */
  read(shape: Leaf | OneOf, cursor: Cursor, type: number, limit: number): unknown {
    if (shape.kind === 'numeric') return numberOf(shape.as, numberAt(cursor, type, limit));
    expect(type, wire.bytes);
    const end = cursor.end(limit);
    if (shape.kind === 'wrapped') return this.#wrapped(shape, cursor, end);
    const value =
      shape.kind === 'oneOf' ? valueAt(shape.values, cursor, end) : this.#text(shape, cursor, end);
    cursor.at = end;
    return value;
  }

  /** One field of the message that ends at `end`, which Go writes once; goes to the end of the message. */
  within(cursor: Cursor, place: number, shape: Leaf | OneOf, end: number): unknown {
    while (cursor.at < end) {
      const tag = cursor.varint();
      if (tag >>> 3 === place) {
        const value = this.read(shape, cursor, tag & 7, end);
        cursor.at = end;
        return value;
      }
      cursor.skip(tag & 7, end);
    }
    return undefined;
  }

  /** Of a time that is not set the message is empty. */
  #wrapped({ as }: Wrapped, cursor: Cursor, end: number): unknown {
    if (as === 'quantity') return this.within(cursor, 1, word, end);
    const second = this.within(cursor, 1, number, end);
    return second === undefined ? undefined : this.#times.of(second as number);
  }

  #text({ isWord }: Text, { bytes, at }: Cursor, end: number): string | undefined {
    if (at === end) return undefined;
    return isWord ? this.#words.of(bytes, at, end) : bytes.toString('utf8', at, end);
  }
}

function numberAt(cursor: Cursor, type: number, end: number): number {
  expect(type, wire.varint);
  const value = cursor.varint();
  if (cursor.at > end) throw new MalformedMessage('a number is longer than its message');
  return value;
}

function numberOf(as: Numeric['as'], value: number): unknown {
  if (as === 'number') return value;
  if (as === 'flag') return value !== 0;
  if (value === 0) return undefined;
  return as === 'set' ? true : value;
}
