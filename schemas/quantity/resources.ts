/**
 * Arithmetic on lists of quantities by resource name. A missing name counts as zero, results are canonical, and
 * a text that is no quantity throws InvalidQuantity.
 */
import type { ResourceList } from '../kubernetes/meta.ts';
import { Quantity } from './quantity.ts';

type Operands = readonly (Readonly<ResourceList> | undefined)[];

/** The sum by name, with every name of every list. */
export function addResources(...lists: Operands): ResourceList {
  return fold(lists, (a, b) => a.add(b));
}

/** `a - b` by name of either; may be negative. */
export function subtractResources(
  a: Readonly<ResourceList>,
  b: Readonly<ResourceList>,
): ResourceList {
  return collect([...names([a, b])], (name) => quantityOf(a, name).sub(quantityOf(b, name)));
}

/** The largest by name, with every name of every list. */
export function maxResources(...lists: Operands): ResourceList {
  return fold(lists, (a, b) => (a.compareTo(b) >= 0 ? a : b));
}

/** Names of which more is requested than available, in the order of the request. */
export function exceeding(
  requested: Readonly<ResourceList>,
  available: Readonly<ResourceList>,
): string[] {
  return Object.keys(requested).filter(
    (name) => quantityOf(requested, name).compareTo(quantityOf(available, name)) > 0,
  );
}

export function fits(
  requested: Readonly<ResourceList>,
  available: Readonly<ResourceList>,
): boolean {
  return exceeding(requested, available).length === 0;
}

/** The first list that has a name gives its first value, so a lone negative stays what it is. */
function fold(lists: Operands, combine: (a: Quantity, b: Quantity) => Quantity): ResourceList {
  const given = lists.filter((list) => list !== undefined);
  return collect([...names(given)], (name) =>
    given
      .filter((list) => Object.hasOwn(list, name))
      .map((list) => quantityOf(list, name))
      .reduce(combine),
  );
}

function names(lists: readonly Readonly<ResourceList>[]): Set<string> {
  return new Set(lists.flatMap((list) => Object.keys(list)));
}

function collect(keys: readonly string[], valueOf: (name: string) => Quantity): ResourceList {
  return Object.fromEntries(keys.map((name) => [name, valueOf(name).toString()]));
}

function quantityOf(list: Readonly<ResourceList>, name: string): Quantity {
  const value = Object.hasOwn(list, name) ? list[name] : undefined;
  return value === undefined ? Quantity.zero : Quantity.parse(value);
}
