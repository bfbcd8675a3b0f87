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
  readonly values: Leaf;
  /** Keys that are kept; undefined: all. */
  readonly only: OneOf | undefined;
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
  readonly byNumber: readonly (Field | undefined)[];
  /** Where there is none of these, nothing is kept of the object. */
  readonly needs: ReadonlySet<string> | undefined;
  readonly make: Make;
}

/** A message that is one object in memory with all that are equal to it but for one field. */
export interface Template {
  readonly kind: 'template';
  /** What they have in common: all but the field. */
  readonly common: Message;
  readonly apart: Field & { readonly place: number; readonly shape: Leaf };
  /** A field of what they have in common that is made anew for each template, so that who has it has that very template's. */
  readonly holder: string;
  /** Makes those that have the field. */
  readonly make: Make;
}

export interface Field {
  readonly name: string;
  readonly shape: AnyShape;
  /** Whether it is one of those of which the message needs one. */
  readonly isNeeded: boolean;
}

/** A message of the wire whose fields JSON has in the message around it. */
export interface Inlined {
  readonly kind: 'inlined';
  readonly message: Message;
}

export type AnyShape = Leaf | OneOf | MapShape | List | Shared | Message | Template | Inlined;
export type Kept = Record<string, unknown>;
type Make = new () => Kept;

const blank = {
  kind: undefined,
  isWord: undefined,
  as: undefined,
  values: undefined,
  only: undefined,
  entry: undefined,
  shape: undefined,
  fields: undefined,
  byNumber: undefined,
  needs: undefined,
  common: undefined,
  apart: undefined,
  holder: undefined,
  message: undefined,
  make: undefined,
};

/**
 * The same shape, laid out in memory like all others: who reads by shapes meets all kinds at the same places of its code, and
 * V8 finds the fields of objects that are laid out in more than four ways only by searching.
 */
export function alike<S extends AnyShape>(shape: S): S {
  return Object.assign({ ...blank }, shape) as S;
}

/**
 * Makes empty plain objects of one shape. V8 gives objects of a constructor as much room as the first few of them
 * needed, where `{}` always has room for four fields and pays for further ones in steps of three: a tenth of a Pod.
 */
export function roomFor(): Make {
  const make = function room() {} as unknown as Make;
  (make as { prototype: unknown }).prototype = Object.prototype;
  return make;
}
