/**
 * Resources as numbers, since a pass compares them many thousand times. Thousandths, rounded up; names without an
 * amount count as zero.
 */
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

export type Amounts = ReadonlyMap<string, bigint>;

/** @throws InvalidQuantity */
export function toAmounts(list: Readonly<ResourceList>): Amounts {
  return new Map(
    Object.entries(list).map(([name, text]) => [name, Quantity.parse(text).toMilli()]),
  );
}

/** Canonical, in decimal units whatever they were before. */
export function toList(amounts: Amounts): ResourceList {
  return Object.fromEntries(
    [...amounts].map(([name, amount]) => [name, Quantity.parse(`${amount}m`).toString()]),
  );
}

export function plus(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (x, y) => x + y);
}

export function minus(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (x, y) => x - y);
}

function combine(a: Amounts, b: Amounts, join: (x: bigint, y: bigint) => bigint): Amounts {
  const result = new Map(a);
  for (const [name, amount] of b) result.set(name, join(result.get(name) ?? 0n, amount));
  return result;
}
