/** A value of an object, and where it stands in it. */
export interface Place {
  readonly path: string;
  readonly value: unknown;
}

/**
 * Every value at a rule's path: `spec.requirements[]` gives each item with its index, `spec.{taints,startupTaints}` both
 * that are there. What is absent, or of another shape than the path expects, gives none; shapes are the schema's
 * business.
 */
export function placesAt(object: unknown, path: string): Place[] {
  return path
    .split('.')
    .reduce<Place[]>(
      (places, segment) => places.flatMap((place) => step(place, segment)),
      [{ path: '', value: object }],
    );
}

/** `spec.{a,b}[]` as `spec.a[]` and `spec.b[]`: a path with alternatives as paths without. */
export function alternativesOf(path: string): string[] {
  return path
    .split('.')
    .map(namesIn)
    .reduce<string[]>(
      (paths, names) => paths.flatMap((start) => names.map((name) => joined(start, name))),
      [''],
    );
}

function joined(start: string, name: string): string {
  return start === '' ? name : `${start}.${name}`;
}

function namesIn(segment: string): string[] {
  const { names, each = '' } = /^\{(?<names>.*)\}(?<each>\[\])?$/.exec(segment)?.groups ?? {};
  return names === undefined ? [segment] : names.split(',').map((name) => `${name}${each}`);
}

function step(place: Place, segment: string): Place[] {
  return namesIn(segment).flatMap((name) => stepTo(place, name));
}

function stepTo({ path, value }: Place, segment: string): Place[] {
  const name = segment.replace(/\[\]$/, '');
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return [];
  const child = (value as Record<string, unknown>)[name];
  const at = joined(path, name);
  if (!segment.endsWith('[]')) return child === null ? [] : [{ path: at, value: child }];
  if (!Array.isArray(child)) return [];
  return child.map((item: unknown, index) => ({ path: `${at}[${index}]`, value: item }));
}
