/** A value of an object, and where it stands in it. */
export interface Place {
  readonly path: string;
  readonly value: unknown;
}

/**
 * Every value at a rule's path: `spec.requirements[]` gives each item with its index. What is absent, or of another
 * shape than the path expects, gives none; shapes are the schema's business.
 */
export function placesAt(object: unknown, path: string): Place[] {
  return path
    .split('.')
    .reduce<Place[]>(
      (places, segment) => places.flatMap((place) => step(place, segment)),
      [{ path: '', value: object }],
    );
}

function step({ path, value }: Place, segment: string): Place[] {
  const name = segment.replace(/\[\]$/, '');
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return [];
  const child = (value as Record<string, unknown>)[name];
  const at = path === '' ? name : `${path}.${name}`;
  if (!segment.endsWith('[]')) return child === null ? [] : [{ path: at, value: child }];
  if (!Array.isArray(child)) return [];
  return child.map((item: unknown, index) => ({ path: `${at}[${index}]`, value: item }));
}
