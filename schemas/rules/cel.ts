/**
 * CEL as the API server speaks it, as far as the rules go.
 *
 * @marcbachmann/cel-js and Kubernetes' own environment agree on the subset of subset.ts; a rule that uses anything else
 * is refused before it is evaluated anywhere.
 */
import { Environment } from '@marcbachmann/cel-js';

import { InvalidQuantity, Quantity } from '../quantity/quantity.ts';
import { subsetTroubles } from './subset.ts';

/** The expression cannot be a rule. */
export class InvalidRule extends Error {
  constructor(cel: string, because: string) {
    super(`rule "${cel}": ${because}`);
    this.name = 'InvalidRule';
  }
}

/** Values by the names that an expression knows them by: `self` and `oldSelf`, or `object` for a whole one. */
export type Bindings = Readonly<Partial<Record<'self' | 'oldSelf' | 'object', unknown>>>;

/** An expression that is ready to judge; throws what CEL throws when the value's shape does not fit. */
export type Judge = (bindings: Bindings) => boolean;

/** What was asked gives something else than true or false, which the API server takes for an error too. */
export class NotAVerdict extends Error {
  override readonly name = 'NotAVerdict';
}

/** @throws InvalidRule when the text is not CEL, or not of the listed subset */
export function compile(cel: string): Judge {
  const [trouble] = subsetTroubles(cel);
  if (trouble !== undefined) throw new InvalidRule(cel, trouble);
  const program = parsed(cel);
  return (bindings) => {
    const verdict = program(
      Object.fromEntries(Object.entries(bindings).map(([name, value]) => [name, toCel(value)])),
    ) as unknown;
    if (typeof verdict !== 'boolean') throw new NotAVerdict('it is neither true nor false');
    return verdict;
  };
}

/**
 * JSON as CEL's own types: integers are int64, so BigInt; objects are Maps, since a label may be named `constructor`
 * and would otherwise reach into JavaScript.
 */
export function toCel(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (value === null || typeof value !== 'object') return value;
  return new Map(Object.entries(value).map(([key, item]) => [key, toCel(item)]));
}

function parsed(cel: string): ReturnType<Environment['parse']> {
  try {
    return environment().parse(cel);
  } catch (error) {
    throw new InvalidRule(cel, error instanceof Error ? error.message : String(error));
  }
}

/** A quantity inside an expression, in a class that CEL may look at. */
class QuantityValue {
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

const type = 'kubernetes.Quantity';

function environment(): Environment {
  return new Environment({ enableOptionalTypes: true })
    .registerType(type, { ctor: QuantityValue, fields: {} })
    .registerFunction(
      `quantity(string): ${type}`,
      (text: string) => new QuantityValue(Quantity.parse(text)),
    )
    .registerFunction('isQuantity(string): bool', isQuantity)
    .registerFunction(
      `${type}.add(${type}): ${type}`,
      (a: QuantityValue, b: QuantityValue) => new QuantityValue(a.quantity.add(b.quantity)),
    )
    .registerFunction(
      `${type}.isGreaterThan(${type}): bool`,
      (a: QuantityValue, b: QuantityValue) => a.quantity.compareTo(b.quantity) > 0,
    )
    .registerFunction(
      `${type}.isLessThan(${type}): bool`,
      (a: QuantityValue, b: QuantityValue) => a.quantity.compareTo(b.quantity) < 0,
    )
    .registerVariable('self', 'dyn')
    .registerVariable('oldSelf', 'dyn')
    .registerVariable('object', 'dyn');
}

function isQuantity(text: string): boolean {
  try {
    Quantity.parse(text);
    return true;
  } catch (error) {
    if (error instanceof InvalidQuantity) return false;
    throw error;
  }
}
