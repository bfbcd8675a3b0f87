import type { Field, Message } from './any-shape.ts';
import { mayBeKept } from './presence.ts';
import { expect, wire, type Cursor, type Span } from './wire.ts';

/** No field has the number 0, so this tag ends a message whose length falls away. */
const endOfMessage = 0;
/** So few bytes are copied faster one by one than by a call. */
const short = 32;

/**
 * The bytes of a message that matter to what is kept of it, in an order from which it could be made: of two messages
 * whose essence is equal the same is kept. To copy bytes is much cheaper than to make objects of them.
 *
 * What it has beyond what is kept, such as a label that is dropped, costs sharing and nothing else.
 */
export class Essence {
  #bytes = Buffer.allocUnsafe(16 * 1024);
  #length = 0;

  /**
   * @param cursor  at the message, which ends at `end`; goes there
   * @returns bytes that the next one overwrites
   * @throws MalformedMessage
   */
  of(shape: Message, cursor: Cursor, end: number): Span {
    const most = end - cursor.at; // an inner message loses its length and gains its end
    if (this.#bytes.length < most) this.#bytes = Buffer.allocUnsafe(2 * most);
    this.#length = 0;
    this.#fields(shape, cursor, end);
    return { bytes: this.#bytes, from: 0, to: this.#length };
  }

  #fields({ byNumber }: Message, cursor: Cursor, end: number): void {
    while (cursor.at < end) {
      const start = cursor.at;
      const tag = cursor.varint();
      const value = cursor.at;
      cursor.skip(tag & 7, end);
      const field = byNumber[tag >>> 3];
      if (field === undefined) continue;
      const inner = messageOf(field);
      if (inner === undefined) this.#copy(cursor.bytes, start, cursor.at);
      else {
        expect(tag & 7, wire.bytes);
        this.#message(inner, cursor, start, value);
      }
    }
  }

  /**
   * @param cursor  after the message
   * @param start  where its tag stands, and `value` where its length does
   */
  #message(shape: Message, cursor: Cursor, start: number, value: number): void {
    const end = cursor.at;
    cursor.at = value;
    cursor.end(end);
    if (mayBeKept(shape, cursor, end)) {
      this.#copy(cursor.bytes, start, value);
      this.#fields(shape, cursor, end);
      this.#bytes[this.#length++] = endOfMessage;
    }
    cursor.at = end;
  }

  #copy(from: Buffer, start: number, end: number): void {
    const length = this.#length;
    this.#length = length + end - start;
    if (end - start > short) from.copy(this.#bytes, length, start, end);
    else for (let i = start; i < end; i++) this.#bytes[length + i - start] = from[i] ?? 0;
  }
}

/** What is to be gone into, since some of it may be dropped; what is shared goes by all its bytes anyway. */
function messageOf({ shape: whole }: Field): Message | undefined {
  if (whole.kind === 'inlined') return whole.message;
  const shape = whole.kind === 'list' ? whole.entry : whole;
  return shape.kind === 'message' ? shape : undefined;
}
