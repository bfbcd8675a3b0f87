import { createHash } from 'node:crypto';

/**
 * A short fingerprint of a value: equal for values that differ only in the order of keys, or in keys that are
 * absent, null, or an empty map or list. Lists keep their order: hand sets over through {@link asSet}, and what is
 * another program's, where null and empty may mean something, through {@link exactly}.
 *
 * @param length hex digits to keep, at most 64
 */
export function fingerprint(value: unknown, length: number): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical(value)) ?? '')
    .digest('hex')
    .slice(0, length);
}

/** The elements of a set in an order of their own. */
export function asSet(values: readonly unknown[] | undefined): unknown[] {
  return (values ?? [])
    .map((value) => canonical(value))
    .toSorted((a, b) => compare(JSON.stringify(a) ?? '', JSON.stringify(b) ?? ''));
}

/** A value as text that only the order of keys has no part in. */
export function exactly(value: unknown): string | undefined {
  return JSON.stringify(value, (_, item: unknown) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => compare(a, b)))
      : item,
  );
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, canonical(item)] as const)
      .filter(([, item]) => !isNothing(item))
      .toSorted(([a], [b]) => compare(a, b)),
  );
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** By code unit, so that no locale has a say in a hash. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
