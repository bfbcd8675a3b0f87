/** JSON as CEL's own types. */

type Convert = (value: unknown) => unknown;

/**
 * Integers are int64, so BigInt; objects are Maps, since a label may be named `constructor` and would otherwise reach
 * into JavaScript.
 *
 * @param part what the values of an object or a list are converted by
 */
export function toCel(value: unknown, part: Convert = toCel): unknown {
  if (typeof value === 'number') return isInt64(value) ? BigInt(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => part(item));
  const map = new Map<string, unknown>();
  for (const key of Object.keys(value)) map.set(key, part((value as Record<string, unknown>)[key]));
  return map;
}

/** {@link toCel} that remembers what it converted, whole or as a part of something; for one review. */
export function toCelOnce(): Convert {
  const known = new Map<unknown, unknown>();
  return function convert(value: unknown): unknown {
    if (value === null || typeof value !== 'object') return toCel(value);
    const before = known.get(value);
    if (before !== undefined) return before;
    const converted = toCel(value, convert);
    known.set(value, converted);
    return converted;
  };
}

function isInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}
