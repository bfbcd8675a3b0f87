/**
 * CEL as the API server speaks it, as far as the rules go.
 *
 * @marcbachmann/cel-js and Kubernetes' own environment agree on what is listed here; each knows more that the other
 * does not, so a rule that uses anything else is refused before it is evaluated anywhere.
 */
import { Environment } from '@marcbachmann/cel-js';

import { InvalidQuantity, Quantity } from '../quantity/quantity.ts';

/** Functions and macros that rules may use. `matches` only with ASCII patterns that RE2 and JavaScript read alike. */
const shared: ReadonlySet<string> = new Set([
  'all',
  'contains',
  'endsWith',
  'exists',
  'has',
  'isGreaterThan',
  'isLessThan',
  'isQuantity',
  'matches',
  'quantity',
  'size',
  'startsWith',
  'string',
]);

/** The expression cannot be a rule. */
export class InvalidRule extends Error {
  constructor(cel: string, because: string) {
    super(`rule "${cel}": ${because}`);
    this.name = 'InvalidRule';
  }
}

/** An expression that is ready to judge one value; throws what CEL throws when the value's shape does not fit. */
export type Judge = (self: unknown) => boolean;

/** @throws InvalidRule when the text is not CEL, or not of the listed subset */
export function compile(cel: string): Judge {
  for (const name of functionsIn(cel)) {
    if (!shared.has(name))
      throw new InvalidRule(cel, `${name}() does not mean the same everywhere`);
  }
  const program = parsed(cel);
  return (self) => program({ self: toCel(self) }) === true;
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

/** Names before a bracket, outside of string literals. */
function functionsIn(cel: string): string[] {
  const code = cel.replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''");
  return [...code.matchAll(/([A-Za-z_]\w*)\s*\(/g)].map(([, name = '']) => name);
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
      `${type}.isGreaterThan(${type}): bool`,
      (a: QuantityValue, b: QuantityValue) => a.quantity.compareTo(b.quantity) > 0,
    )
    .registerFunction(
      `${type}.isLessThan(${type}): bool`,
      (a: QuantityValue, b: QuantityValue) => a.quantity.compareTo(b.quantity) < 0,
    )
    .registerVariable('self', 'dyn');
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
