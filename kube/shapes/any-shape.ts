/** Shapes as those see them that read by them. */

export interface Text {
  readonly kind: 'text';
  /** Whether many objects have it in common. */
  readonly isWord: boolean;
}

/** What is a varint on the wire. */
export interface Numeric {
  readonly kind: 'numeric';
  readonly as: 'number' | 'nonZero' | 'flag' | 'set';
}

/** What is a text in JSON, and a message with one field on the wire. */
export interface Wrapped {
  readonly kind: 'wrapped';
  readonly as: 'time' | 'quantity';
}

export type Leaf = Text | Numeric | Wrapped;

export interface OneOf {
  readonly kind: 'oneOf';
  readonly values: ReadonlySet<string>;
}

export interface MapShape {
  readonly kind: 'map';
  readonly values: 'text' | 'word' | 'quantity';
  /** Keys that are kept; undefined: all. */
  readonly only?: ReadonlySet<string>;
  readonly make: Make;
}

export interface List {
  readonly kind: 'list';
  readonly entry: AnyShape;
}

export interface Shared {
  readonly kind: 'shared';
  readonly shape: List | MapShape | Message;
}

export interface Message {
  readonly kind: 'message';
  readonly fields: readonly Field[];
  /** By number. */
  readonly byNumber: readonly (Field | Inlined | undefined)[];
  /** Whether an object is kept, by what was kept of it. */
  readonly keep: (kept: Kept) => boolean;
  readonly make: Make;
}

export interface Field {
  readonly name: string;
  readonly shape: AnyShape;
}

/** A message of the wire whose fields JSON has in the message around it. */
export interface Inlined {
  readonly inlined: Message;
}

export type AnyShape = Leaf | OneOf | MapShape | List | Shared | Message;
export type Kept = Record<string, unknown>;
type Make = new () => Kept;

/**
 * Makes empty plain objects of one shape. V8 gives objects of a constructor as much room as the first few of them
 * needed, where `{}` always has room for four fields and pays for further ones in steps of three: a tenth of a Pod.
 */
export function roomFor(): Make {
  const make = function room() {} as unknown as Make;
  (make as { prototype: unknown }).prototype = Object.prototype;
  return make;
}
