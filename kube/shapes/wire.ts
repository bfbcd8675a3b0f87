/** The bytes of a protobuf message, read one after the other. Source: protobuf.dev, Encoding. */

/** How the value of a field is written: the last three bits of its tag. */
export const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** The bytes are no message, or end before their end. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

const more = 0x80;
/** So many bytes hold 49 bits, which a double can add up; what is longer is mostly negative and has ten. */
const exact = 7;

/** Where a message is in bytes that hold more. */
export interface Span {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

export function spanOf(text: string): Span {
  const bytes = Buffer.from(text);
  return { bytes, from: 0, to: bytes.length };
}

/** A place in a message, which moves on with what is read. */
export class Cursor {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** A signed number of up to 64 bits; beyond 2^53 it is rounded. */
  varint(): number {
    const { bytes, at } = this;
    const first = bytes[at] ?? cut();
    this.at = at + 1;
    if (first < more) return first;
    const second = bytes[at + 1] ?? cut();
    this.at = at + 2;
    return second < more ? first - more + second * more : this.#longer(at);
  }

  /** The end of the bytes whose length stands here; goes to the first of them. */
  end(limit: number): number {
    const length = this.varint();
    const end = this.at + length;
    if (length < 0 || end > limit) throw new MalformedMessage('a field is longer than its message');
    return end;
  }

  /** Passes over a value. */
  skip(type: number, limit: number): void {
    if (type === wire.bytes) this.at = this.end(limit);
    else if (type === wire.varint) this.varint();
    else if (type === wire.fixed64) this.at += 8;
    else if (type === wire.fixed32) this.at += 4;
    else throw new MalformedMessage(`no wire type is ${type}`);
    if (this.at > limit) throw new MalformedMessage('a field is longer than its message');
  }

  #longer(from: number): number {
    let sum = 0;
    let weight = 1;
    for (let at = from; at < from + exact; at++) {
      const now = this.bytes[at] ?? cut();
      sum += (now % more) * weight;
      weight *= more;
      this.at = at + 1;
      if (now < more) return sum;
    }
    return this.#longest(from);
  }

  #longest(from: number): number {
    let sum = 0n;
    for (let i = 0; i < 10; i++) {
      const now = this.bytes[from + i] ?? cut();
      sum |= BigInt(now % more) << BigInt(7 * i);
      this.at = from + i + 1;
      if (now < more) return Number(BigInt.asIntN(64, sum));
    }
    throw new MalformedMessage('a number has more than ten bytes');
  }
}

/** @throws MalformedMessage */
export function expect(type: number, wanted: number): void {
  if (type !== wanted) throw new MalformedMessage(`wire type ${type} where ${wanted} should be`);
}

function cut(): never {
  throw new MalformedMessage('it ends within a number');
}
