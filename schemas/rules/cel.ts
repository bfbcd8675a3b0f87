/**
 * CEL as the API server speaks it, as far as the rules go.
 *
 * @marcbachmann/cel-js and Kubernetes' own environment agree on the subset of subset.ts; a rule that uses anything else
 * is refused before it is evaluated anywhere.
 */
import { Environment } from '@marcbachmann/cel-js';

import { InvalidQuantity, Quantity } from '../quantity/quantity.ts';
import { toCel } from './cel-value.ts';
import { subsetTroubles } from './subset.ts';

/** The expression cannot be a rule. */
export class InvalidRule extends Error {
  constructor(cel: string, because: string) {
    super(`rule "${cel}": ${because}`);
    this.name = 'InvalidRule';
  }
}

/** What an expression may know its values by: of a place, or of whole objects. */
const names = ['self', 'oldSelf', 'object', 'oldObject'] as const;

export type Bindings = Readonly<Partial<Record<(typeof names)[number], unknown>>>;

/**
 * An expression that is ready to judge; throws what CEL throws when the value's shape does not fit.
 *
 * @param convert {@link toCel}, or `toCelOnce()` where many expressions look at the same object
 */
export type Judge = (bindings: Bindings, convert?: (value: unknown) => unknown) => boolean;

/** What was asked gives something else than true or false, which the API server takes for an error too. */
export class NotAVerdict extends Error {
  override readonly name = 'NotAVerdict';
}

/** @throws InvalidRule when the text is not CEL, or not of the listed subset */
export function compile(cel: string): Judge {
  const [trouble] = subsetTroubles(cel);
  if (trouble !== undefined) throw new InvalidRule(cel, trouble);
  const program = parsed(cel);
  return (bindings, convert = toCel) => {
    const converted: Record<string, unknown> = {};
    for (const name of names) {
      if (bindings[name] !== undefined) converted[name] = convert(bindings[name]);
    }
    const verdict = program(converted) as unknown;
    if (typeof verdict !== 'boolean') throw new NotAVerdict('it is neither true nor false');
    return verdict;
  };
}

function parsed(cel: string): ReturnType<Environment['parse']> {
  try {
    return environment.parse(cel.replaceAll(/\bhas\(([\w.]+)\.(\w+)\)/g, "isSet($1, '$2')"));
  } catch (error) {
    throw new InvalidRule(cel, error instanceof Error ? error.message : String(error));
  }
}

/** A quantity inside an expression, in a class that CEL may look at. */
class QuantityValue {
  readonly quantity: Quantity;
  /** Rules add the same again and again, four times a request to begin with; one sum, so that nothing grows. */
  #sum: { readonly other: QuantityValue; readonly value: QuantityValue } | undefined;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }

  add(other: QuantityValue): QuantityValue {
    if (this.#sum?.other !== other) {
      this.#sum = { other, value: new QuantityValue(this.quantity.add(other.quantity)) };
    }
    return this.#sum.value;
  }
}

const type = 'kubernetes.Quantity';

/** `has()` as Kubernetes has it: a list has no fields to ask for, which cel-js takes for a field that is absent. */
function isSet(value: unknown, field: string): boolean {
  if (Array.isArray(value)) throw new TypeError(`a list has no ${field}`);
  return value instanceof Map && value.has(field);
}

const known = new Map<string, QuantityValue>();
/** Rules ask again and again for the same bounds, and Pods for the same few sizes. */
const mostKnown = 256;

function quantityOf(text: string): QuantityValue {
  const found = known.get(text);
  if (found) return found;
  const value = new QuantityValue(Quantity.parse(text));
  if (known.size < mostKnown) known.set(text, value);
  return value;
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

/** One for all rules: what it learns of types serves them all, and one each would hold three megabytes more. */
const environment = names.reduce(
  (one, name) => one.registerVariable(name, 'dyn'),
  new Environment({ enableOptionalTypes: true })
    .registerType(type, { ctor: QuantityValue, fields: {} })
    .registerFunction('isSet(dyn, string): bool', isSet)
    .registerFunction(`quantity(string): ${type}`, quantityOf)
    .registerFunction('isQuantity(string): bool', isQuantity)
    .registerFunction(`${type}.add(${type}): ${type}`, (a: QuantityValue, b: QuantityValue) =>
      a.add(b),
    )
    .registerFunction(
      `${type}.isGreaterThan(${type}): bool`,
      (a: QuantityValue, b: QuantityValue) => a.quantity.compareTo(b.quantity) > 0,
    )
    .registerFunction(
      `${type}.isLessThan(${type}): bool`,
      (a: QuantityValue, b: QuantityValue) => a.quantity.compareTo(b.quantity) < 0,
    ),
);
