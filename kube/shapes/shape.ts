/**
 * What is kept of an object, told field by field, with the fields' numbers in protobuf. The types see to it that what is
 * kept is still what its readers take it for: each field that a type names is decided about, and only what may be
 * absent anyway can be dropped.
 *
 * Source of what each kind of value is on the wire: k8s.io/api and k8s.io/apimachinery v0.37, generated.proto and the
 * `json` tags in types.go. Go writes fields without a pointer even where they are empty, which JSON leaves out.
 */
import {
  alike,
  roomFor,
  type AnyShape,
  type Field,
  type Inlined,
  type List,
  type MapShape,
  type Message,
  type Numeric,
  type OneOf,
  type Shared,
  type Template,
  type Text,
  type Wrapped,
} from './any-shape.ts';

/** Passed over unread. */
export const dropped = Symbol('dropped');

/** Of which type the value is that a shape is for, which nobody but the compiler asks. */
declare const forType: unique symbol;
interface Of<T> {
  readonly [forType]?: (value: T) => void;
}

export type Shape<T> = AnyShape & Of<T>;
/** Of a whole object. */
export type ObjectShape<T> = Message & Of<T>;

const numeric = <T>(as: Numeric['as']): Numeric & Of<T> => alike({ kind: 'numeric', as });

export const text: Text & Of<string> = alike({ kind: 'text', isWord: false });
/** A text that many objects have in common, like the name of their namespace. */
export const word: Text & Of<string> = alike({ kind: 'text', isWord: true });
export const number = numeric<number>('number');
/** A number whose 0 means the same as none. */
export const nonZero = numeric<number>('nonZero');
export const flag = numeric<boolean>('flag');
/** A flag whose false means the same as none. */
export const set = numeric<boolean>('set');
/** A text as in `2026-11-30T08:00:00Z`. */
export const time: Wrapped & Of<string> = alike({ kind: 'wrapped', as: 'time' });

const quantity: Wrapped = alike({ kind: 'wrapped', as: 'quantity' });

const mapOf = (values: MapShape['values'], keys?: OneOf): MapShape & Of<Record<string, string>> =>
  alike({ kind: 'map', values, only: keys, make: roomFor() });

/** `map<string, string>` */
export const texts = (): MapShape & Of<Record<string, string>> => mapOf(word);
/** `map<string, Quantity>` */
export const quantities = (): MapShape & Of<Record<string, string>> => mapOf(quantity);

/** The entries with these keys, of a map in which others stand too. */
export function only(...keys: readonly string[]): MapShape & Of<Record<string, string>> {
  return mapOf(text, oneOf(...keys));
}

/** A word that is one of these; where it is another, nothing is kept of the message that it is in. */
export function oneOf(...values: readonly string[]): OneOf & Of<string> {
  return alike({ kind: 'oneOf', values: new Set(values) });
}

/** Entries of which nothing is kept are left out, and so is a list in which none is left. */
export function list<T>(entry: Shape<T>): List & Of<readonly T[]> {
  return alike({ kind: 'list', entry });
}

/** Equal ones are one object in memory, whoever's they are. */
export function shared<T>(shape: (List | MapShape | Message) & Of<T>): Shared & Of<T> {
  return alike({ kind: 'shared', shape });
}

/**
 * Equal ones are one object in memory, and those that differ in one field only have all that is in them in common.
 *
 * Two are equal when what is kept of them is, however much of what is dropped differs; {@link shared} goes by all bytes.
 *
 * @param apart  the field that differs, which stands at a number of its own
 * @param holder  a field whose value is not {@link shared} itself: what has it keeps what they have in common from
 *   being forgotten
 */
export function template<T>(
  shape: ObjectShape<T>,
  { apart, holder }: { readonly apart: keyof T & string; readonly holder: keyof T & string },
): Template & Of<T> {
  const place = shape.byNumber.findIndex((one) => one?.name === apart);
  const field = shape.byNumber[place] as Template['apart'];
  const common: Message = {
    ...shape,
    fields: shape.fields.filter(({ name }) => name !== apart),
    byNumber: shape.byNumber.with(place, undefined),
    make: roomFor(),
  };
  return alike({ kind: 'template', common, apart: { ...field, place }, holder, make: shape.make });
}

/** Where a field is on the wire: its number, or those of the inlined message and of the field in that. */
interface Placed<T> {
  readonly at: readonly [number] | readonly [number, number];
  readonly shape: Shape<T>;
}

export function at<T>(place: number, shape: Shape<T>): Placed<T> {
  return { at: [place], shape };
}

export function within<T>(inlined: number, place: number, shape: Shape<T>): Placed<T> {
  return { at: [inlined, place], shape };
}

/** What protobuf tells beside the message: of which kind it is. */
export function beside<T>(shape: Shape<T>): Placed<T> {
  return { at: [0], shape }; // no field has that number
}

type Decision<T> = undefined extends T ? Placed<NonNullable<T>> | typeof dropped : Placed<T>;
type Decisions<T> = { readonly [K in keyof Required<T>]: Decision<T[K]> };
type Named = Pick<Field, 'name' | 'shape'> & Pick<Placed<unknown>, 'at'>;

/**
 * An object with these fields of it.
 *
 * @param decisions  for every field that the type names; what it does not name is dropped
 * @param needs  where there is none of these, nothing is kept of the object; default: it is kept in any case
 */
export function message<T extends object>(
  decisions: Decisions<T>,
  ...needs: readonly (keyof T & string)[]
): ObjectShape<T> {
  const entries = Object.entries(decisions as Record<string, Placed<unknown> | typeof dropped>);
  const named = entries.flatMap(([name, decision]) =>
    decision === dropped ? [] : [{ name, ...decision }],
  );
  return messageOf(named.toSorted(byPlace), needs);
}

/** As they are on the wire, so that the fields of what is kept stand in one order, from whichever form it came. */
function byPlace({ at: [a, b = 0] }: Named, { at: [c, d = 0] }: Named): number {
  return a - c || b - d;
}

/** What types leave open, such as an affinity, in a form that is known here. */
export function open<S extends List | Message>(shape: S): S & Of<unknown> {
  return shape as S & Of<unknown>;
}

function messageOf(named: readonly Named[], needs: readonly string[]): Message {
  const deciding = named.filter(({ shape }) => shape.kind === 'oneOf').map(({ name }) => name);
  const all = new Set(deciding.length > 0 ? deciding : needs);
  const fieldOf = ({ name, shape }: Named): Field => ({ name, shape, isNeeded: all.has(name) });
  return alike({
    kind: 'message',
    fields: named.map(fieldOf),
    byNumber: byNumber(named, fieldOf, all),
    needs: all.size > 0 ? all : undefined,
    make: roomFor(),
  });
}

function byNumber(
  named: readonly Named[],
  fieldOf: (one: Named) => Field,
  needs: ReadonlySet<string>,
): readonly (Field | undefined)[] {
  const fields: (Field | undefined)[] = [];
  const inlined = Map.groupBy(named, ({ at: [first, second] }) =>
    second === undefined ? undefined : first,
  );
  for (const [first, within] of inlined) {
    if (first === undefined) for (const one of within) fields[one.at[0]] = fieldOf(one);
    else fields[first] = inlinedOf(within, needs);
  }
  return Array.from(fields); // without holes
}

function inlinedOf(named: readonly Named[], needs: ReadonlySet<string>): Field {
  const inner = named.map(({ at: [, place = 0], ...one }): Named => ({ ...one, at: [place] }));
  const needed = inner.map(({ name }) => name).filter((name) => needs.has(name));
  const shape = alike<Inlined>({ kind: 'inlined', message: messageOf(inner, needed) });
  return { name: '', shape, isNeeded: needed.length > 0 };
}
