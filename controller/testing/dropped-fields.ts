import type { AnyShape, Field } from '#kube/shapes/any-shape.ts';

/**
 * Makes a read of what was there and is not kept fail, where it would be taken for absent: the compiler cannot tell, as
 * such fields are optional, and a test whose reader goes on without one would pass.
 *
 * @param kept  of `whole` by `shape`; it looks, prints and compares as before
 */
export function guardDropped(shape: AnyShape, kept: unknown, whole: unknown, path = 'it'): void {
  if (kept === whole || !isObject(kept) || !isObject(whole)) return;
  if (shape.kind === 'shared') guardDropped(shape.shape, kept, whole, path);
  else if (shape.kind === 'list') guardEntries(shape.entry, kept, whole, path);
  else guardFields(fieldsOf(shape), kept, whole, path);
}

/** Undefined where every field is kept. */
function fieldsOf(shape: AnyShape): readonly Pick<Field, 'name' | 'shape'>[] | undefined {
  if (shape.kind === 'message') return shape.fields;
  if (shape.kind === 'template') return [...shape.common.fields, shape.apart];
  const only = shape.kind === 'map' ? shape.only : undefined;
  return only && [...only.values].map((name) => ({ name, shape: { kind: 'text', isWord: false } }));
}

function guardFields(
  fields: readonly Pick<Field, 'name' | 'shape'>[] | undefined,
  kept: object,
  whole: object,
  path: string,
): void {
  if (!fields) return;
  const known = new Map(fields.map((field) => [field.name, field.shape]));
  for (const [name, value] of Object.entries(whole)) {
    const shape = known.get(name);
    const place = `${path}.${name}`;
    if (shape) guardDropped(shape, (kept as Record<string, unknown>)[name], value, place);
    else if (isSomething(value)) Object.defineProperty(kept, name, refusal(place));
  }
}

/** Of a list from which entries are left out nobody can tell which is which. */
function guardEntries(entry: AnyShape, kept: object, whole: object, path: string): void {
  const [all, own] = [Object.values(whole), Object.values(kept)];
  if (all.length !== own.length) return;
  all.forEach((value, index) => guardDropped(entry, own[index], value, `${path}[${index}]`));
}

function refusal(place: string): PropertyDescriptor {
  return {
    configurable: true,
    enumerable: false,
    get() {
      throw new Error(`${place} is read, and the cache does not keep it`);
    },
  };
}

/** What means the same as nothing is missed by nobody. */
function isSomething(value: unknown): boolean {
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
