import type { Requirement } from '#schemas/karpenter/types.ts';

import { toInteger } from './integer.ts';

interface Parts {
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  readonly allowsAbsence: boolean;
  readonly atLeast?: bigint | undefined;
  readonly atMost?: bigint | undefined;
  readonly minValues?: number | undefined;
}

/**
 * The values that one label may have: some values, or all but some, the latter within whole-number bounds; and whether it
 * may be absent.
 *
 * Source of the algebra: Karpenter v1.15, pkg/scheduling/requirement.go. It differs in two points. Excluded values are
 * kept beside bounds on output, where upstream loses them. And that a label must be there is kept, where upstream takes
 * what no value satisfies (`In [a]` and `NotIn [a]`) for DoesNotExist, which kube-scheduler does not.
 */
export class ValueSet {
  /** True: all values but these. */
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  /** Also holds where the label is absent: NotIn and DoesNotExist, and both of them together. */
  readonly allowsAbsence: boolean;
  /** Inclusive; only beside `complement`. */
  readonly atLeast: bigint | undefined;
  readonly atMost: bigint | undefined;
  readonly minValues: number | undefined;
  #id: string | undefined;

  private constructor(parts: Parts) {
    this.complement = parts.complement;
    this.values = parts.values;
    this.allowsAbsence = parts.allowsAbsence;
    this.atLeast = parts.atLeast;
    this.atMost = parts.atMost;
    this.minValues = parts.minValues;
  }

  /** What one requirement allows. A bound that is no whole number allows nothing. */
  static of({ operator, values = [], minValues }: Omit<Requirement, 'key'>): ValueSet {
    if (isBound(operator)) return bounded(operator, toInteger(values[0] ?? ''), minValues);
    const isList = operator === 'In' || operator === 'NotIn';
    const complement = operator === 'NotIn' || operator === 'Exists';
    const allowsAbsence = operator === 'NotIn' || operator === 'DoesNotExist';
    const listed = isList ? new Set(values) : none;
    return new ValueSet({ complement, values: listed, allowsAbsence, minValues });
  }

  static within(
    atLeast: bigint | undefined,
    atMost: bigint | undefined,
    minValues?: number,
  ): ValueSet {
    const range = { atLeast, atMost, minValues };
    return new ValueSet({ complement: true, values: none, allowsAbsence: false, ...range });
  }

  static readonly nothing = new ValueSet({
    complement: false,
    values: new Set(),
    allowsAbsence: false,
  });

  /** The same for sets that say the same. */
  get id(): string {
    this.#id ??= JSON.stringify([
      this.complement,
      [...this.values].toSorted(),
      this.allowsAbsence,
      this.atLeast?.toString(),
      this.atMost?.toString(),
      this.minValues,
    ]);
    return this.#id;
  }

  has(value: string): boolean {
    return this.values.has(value) !== this.complement && this.#isWithin(value);
  }

  /** No value is in it; it may still be that the label is absent. */
  get isEmpty(): boolean {
    return !this.complement && this.values.size === 0;
  }

  /** The one value it can only be. */
  get only(): string | undefined {
    const [first] = this.values;
    return !this.complement && this.values.size === 1 ? first : undefined;
  }

  withMinValues(minValues: number | undefined): ValueSet {
    return minValues === this.minValues ? this : new ValueSet({ ...this.#parts(), minValues });
  }

  intersect(other: ValueSet): ValueSet {
    const minValues = larger(this.minValues, other.minValues);
    if (this.complement && other.complement) return this.#narrow(other, minValues);
    const [few, filter] = this.complement ? [other, this] : [this, other];
    const values = new Set([...few.values].filter((value) => filter.has(value)));
    const allowsAbsence = this.allowsAbsence && other.allowsAbsence;
    return new ValueSet({ complement: false, values, allowsAbsence, minValues });
  }

  /** Whether every value of this set is in the other. A set of all but some never is in one of a few. */
  isWithin(other: ValueSet): boolean {
    if (!this.complement) return [...this.values].every((value) => other.has(value));
    if (!other.complement) return false;
    return (
      [...other.values].every((value) => !this.has(value)) &&
      largest(this.atLeast, other.atLeast) === this.atLeast &&
      smallest(this.atMost, other.atMost) === this.atMost
    );
  }

  /**
   * As requirements on `key`. Bounds are written as Gt and Lt, which every served Karpenter schema has; a lower
   * bound of zero needs Gte, since schemas take no negative bound.
   */
  toRequirements(key: string): Requirement[] {
    const extra = this.minValues === undefined ? {} : { minValues: this.minValues };
    if (this.isEmpty) return [{ key, operator: 'DoesNotExist' }];
    if (!this.complement) return [{ key, operator: 'In', values: [...this.values], ...extra }];
    const parts = this.#boundsOn(key);
    if (parts.length === 0 && !this.allowsAbsence) parts.push({ key, operator: 'Exists' });
    if (this.values.size > 0) parts.unshift({ key, operator: 'NotIn', values: [...this.values] });
    return parts.map((part, index) => (index === 0 ? { ...part, ...extra } : part));
  }

  #boundsOn(key: string): Requirement[] {
    const { atLeast, atMost } = this;
    const parts: Requirement[] = [];
    if (atLeast !== undefined && atLeast <= 0n) parts.push({ key, operator: 'Gte', values: ['0'] });
    else if (atLeast !== undefined)
      parts.push({ key, operator: 'Gt', values: [`${atLeast - 1n}`] });
    if (atMost !== undefined) parts.push({ key, operator: 'Lt', values: [`${atMost + 1n}`] });
    return parts;
  }

  #parts(): Parts {
    const { complement, values, allowsAbsence, atLeast, atMost, minValues } = this;
    return { complement, values, allowsAbsence, atLeast, atMost, minValues };
  }

  #narrow(other: ValueSet, minValues: number | undefined): ValueSet {
    const atLeast = largest(this.atLeast, other.atLeast);
    const atMost = smallest(this.atMost, other.atMost);
    const allowsAbsence = this.allowsAbsence && other.allowsAbsence;
    if (atLeast !== undefined && atMost !== undefined && atLeast > atMost) {
      return new ValueSet({ complement: false, values: none, allowsAbsence, minValues });
    }
    const values = new Set([...this.values, ...other.values]);
    return new ValueSet({ complement: true, values, allowsAbsence, atLeast, atMost, minValues });
  }

  #isWithin(value: string): boolean {
    if (this.atLeast === undefined && this.atMost === undefined) return true;
    const number = toInteger(value);
    if (number === undefined) return false;
    return number >= (this.atLeast ?? number) && number <= (this.atMost ?? number);
  }
}

const none: ReadonlySet<string> = new Set();

type Bound = 'Gt' | 'Lt' | 'Gte' | 'Lte';

function isBound(operator: Requirement['operator']): operator is Bound {
  return operator.startsWith('G') || operator.startsWith('L');
}

function bounded(
  operator: Bound,
  bound: bigint | undefined,
  minValues: number | undefined,
): ValueSet {
  if (bound === undefined) return ValueSet.nothing;
  switch (operator) {
    case 'Gt':
      return ValueSet.within(bound + 1n, undefined, minValues);
    case 'Gte':
      return ValueSet.within(bound, undefined, minValues);
    case 'Lt':
      return ValueSet.within(undefined, bound - 1n, minValues);
    case 'Lte':
      return ValueSet.within(undefined, bound, minValues);
  }
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

function largest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}

function smallest(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
