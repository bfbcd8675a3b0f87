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
  return placesBy(object, knownSteps(path));
}

const taken = new Map<string, Steps>();
/** Paths stand in the code and in the rules; none is made of what somebody sends. */
const mostTaken = 512;

/** To take a path apart costs ten times as much as to walk it. */
function knownSteps(path: string): Steps {
  const known = taken.get(path);
  if (known) return known;
  const steps = stepsOf(path);
  if (taken.size < mostTaken) taken.set(path, steps);
  return steps;
}

/** A path that was taken apart once, for those who walk it often: for each step, the names to go by. */
export type Steps = readonly (readonly Step[])[];

interface Step {
  readonly name: string;
  /** Each item of the list that is there. */
  readonly each: boolean;
}

export function stepsOf(path: string): Steps {
  return path.split('.').map((segment) =>
    namesIn(segment).map((name) => ({
      name: name.replace(/\[\]$/, ''),
      each: name.endsWith('[]'),
    })),
  );
}

/** {@link placesAt}, by a path that was taken apart. */
export function placesBy(object: unknown, steps: Steps): Place[] {
  let places: Place[] = [{ path: '', value: object }];
  for (const names of steps) {
    if (places.length === 0) return places;
    places = places.flatMap((place) => names.flatMap((step) => stepTo(place, step)));
  }
  return places;
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

function stepTo({ path, value }: Place, { name, each }: Step): Place[] {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return [];
  const child = (value as Record<string, unknown>)[name];
  const at = joined(path, name);
  if (!each) return child === null ? [] : [{ path: at, value: child }];
  if (!Array.isArray(child)) return [];
  return child.map((item: unknown, index) => ({ path: `${at}[${index}]`, value: item }));
}
