/**
 * Kubernetes' resource quantities: `100m`, `1.5`, `4Gi`, `12e6`.
 *
 * A value is a whole number of billionths, so that no sum is ever off by a float. Reading, rounding and writing
 * follow k8s.io/apimachinery v0.37, pkg/api/resource (quantity.corpus.json holds what that code answers), except:
 * - a text without any digit, which Go reads as zero when its suffix is short, is refused
 * - `1000E` is written so; Go drops a suffix above E and writes `1`
 * - whole numbers beyond int64 keep their value where Go wraps around
 * - what is beyond 10^1000 counts as that much: the API server stores `1e2000` as `100e1998` and never reckons with it,
 *   and a value of the exponent that Go can read would fill the memory of any machine
 */

/** How a quantity likes to be written: `1500m`, `1536Mi`, `1500e-3`. Sums keep the first operand's. */
export type Format = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** The text is no quantity. */
export class InvalidQuantity extends Error {
  readonly text: string;

  constructor(text: string, because: string) {
    super(`"${text.slice(0, 80)}" is no quantity: ${because}. Write it like 500m, 2, 4Gi or 1e3.`);
    this.name = 'InvalidQuantity';
    this.text = text;
  }
}

const NANOS = 1_000_000_000n;
/** Billionths are 10 to the minus ninth. */
const NANO_EXPONENT = -9;
/** Go caps binary quantities here, and only those. */
const MAX_BINARY = (2n ** 63n - 1n) * NANOS;
/** Far beyond any machine, near enough that arithmetic stays cheap: a number of 3,352 bits. */
const MAX_EXPONENT = 1000;
const MOST = 10n ** BigInt(MAX_EXPONENT - NANO_EXPONENT);

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

/** No character can be taken in two ways, so that a text of a megabyte is refused as fast as it is read. */
const grammar =
  /^(?<sign>[+-]?)(?=\.?\d)(?<whole>\d*)(?:\.(?<part>\d*))?(?<suffix>(?:[a-zA-Z]+(?:[+-]?\d+)?)?)$/;

export class Quantity {
  static readonly zero = new Quantity(0n, 'DecimalSI');

  readonly #nanos: bigint;
  readonly format: Format;

  private constructor(nanos: bigint, format: Format) {
    this.#nanos = within(nanos);
    this.format = format;
  }

  /**
   * @param value  as in a manifest; YAML gives numbers for `cpu: 2`
   * @throws InvalidQuantity
   */
  static parse(value: string | number): Quantity {
    const text = String(value);
    const { sign, whole, part, suffix } = partsOf(text);
    const scale = scaleOf(suffix);
    if (!scale) throw new InvalidQuantity(text, `"${suffix.slice(0, 80)}" is no suffix`);
    const size = magnitude(whole, part, scale);
    return new Quantity(sign === '-' ? -size : size, formatAsRead(size, scale.format));
  }

  static ofInteger(value: bigint | number, format: Format = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value) * NANOS, format);
  }

  add(other: Quantity): Quantity {
    return new Quantity(this.#nanos + other.#nanos, this.#formatWith(other));
  }

  sub(other: Quantity): Quantity {
    return new Quantity(this.#nanos - other.#nanos, this.#formatWith(other));
  }

  /** Negative, zero or positive, as `sort` wants it. */
  compareTo(other: Quantity): number {
    if (this.#nanos === other.#nanos) return 0;
    return this.#nanos < other.#nanos ? -1 : 1;
  }

  isZero(): boolean {
    return this.#nanos === 0n;
  }

  /** Thousandths, rounded away from zero. */
  toMilli(): bigint {
    return divideAwayFromZero(this.#nanos, 1_000_000n);
  }

  /** Units, rounded away from zero. */
  toInteger(): bigint {
    return divideAwayFromZero(this.#nanos, NANOS);
  }

  /** The canonical form: no fraction, the largest suffix that keeps every digit. */
  toString(): string {
    if (this.#nanos === 0n) return '0';
    if (this.#isWrittenBinary()) return writeBinary(this.#nanos / NANOS);
    return writeDecimal(this.#nanos, this.format === 'DecimalExponent');
  }

  toJSON(): string {
    return this.toString();
  }

  /** Zero has no format of its own to keep. */
  #formatWith(other: Quantity): Format {
    return this.isZero() ? other.format : this.format;
  }

  /** Below 1024, and with a fraction, binary suffixes say nothing. */
  #isWrittenBinary(): boolean {
    if (this.format !== 'BinarySI' || this.#nanos % NANOS !== 0n) return false;
    const units = this.#nanos / NANOS;
    return units <= -1024n || units >= 1024n;
  }
}

/** What keeps a text from being a quantity, for people; undefined for one that is. */
export function quantityProblem(text: string | number): string | undefined {
  try {
    Quantity.parse(text);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidQuantity) return error.message;
    throw error;
  }
}

interface Parts {
  readonly sign: string;
  /** Digits before and behind the point; at least one of them has any. */
  readonly whole: string;
  readonly part: string;
  readonly suffix: string;
}

function partsOf(text: string): Parts {
  const found = grammar.exec(text);
  if (!found) throw new InvalidQuantity(text, 'it is not a number with a suffix');
  const [, sign = '', whole = '', part = '', suffix = ''] = found;
  return { sign, whole, part, suffix };
}

/** A share of one unit has no binary suffix to be written with. */
function formatAsRead(size: bigint, format: Format): Format {
  return format === 'BinarySI' && size > 0n && size < NANOS ? 'DecimalSI' : format;
}

interface Scale {
  readonly format: Format;
  /** Power of two for BinarySI, of ten otherwise. */
  readonly exponent: number;
}

function scaleOf(suffix: string): Scale | undefined {
  const decimal = decimalSuffixes.findIndex((one) => one === suffix);
  if (decimal >= 0) return { format: 'DecimalSI', exponent: decimal * 3 + NANO_EXPONENT };
  const binary = binarySuffixes.findIndex((one) => one === suffix);
  if (binary >= 0) return { format: 'BinarySI', exponent: binary * 10 };
  const exponent = exponentOf(suffix);
  return exponent === undefined ? undefined : { format: 'DecimalExponent', exponent };
}

/** Go reads 64 bits and keeps 32 of them: to the API server `1e4294967299` is a thousand. */
function exponentOf(suffix: string): number | undefined {
  const [, sign = '', digits] = /^[eE]([+-]?)0*(\d+)$/.exec(suffix) ?? [];
  if (digits === undefined || digits.length > 19) return undefined;
  const exponent = BigInt(digits) * (sign === '-' ? -1n : 1n);
  if (BigInt.asIntN(64, exponent) !== exponent) return undefined;
  return Number(BigInt.asIntN(32, exponent));
}

/** `whole.part` of a unit in billionths; what is smaller counts as one, and no number larger than needed is made. */
function magnitude(whole: string, part: string, { format, exponent }: Scale): bigint {
  const digits = (whole + part).replace(/^0+/, '');
  if (digits === '') return 0n;
  if (format === 'BinarySI') return binary(digits, part.length, exponent);
  const power = intoInt32(exponent - part.length) - NANO_EXPONENT;
  if (digits.length + power > MAX_EXPONENT - NANO_EXPONENT + 1) return MOST;
  return power >= 0 ? BigInt(digits) * 10n ** BigInt(power) : roundedUp(digits, -power);
}

/** As 32 bits have it: what is below the least of them comes out near the largest. */
function intoInt32(exponent: number): number {
  return exponent < -(2 ** 31) ? exponent + 2 ** 32 : exponent;
}

/** The last `places` digits are behind the point. */
function binary(digits: string, places: number, exponent: number): bigint {
  if (digits.length - places > MAX_EXPONENT) return MAX_BINARY;
  // A billionth is 2^60 times a whole number of 10^-69: what is smaller than that only says whether to round up.
  const dropped = Math.max(0, places - MAX_EXPONENT);
  const kept = roundedUp(digits, dropped) * NANOS * 2n ** BigInt(exponent);
  const size = divideAwayFromZero(kept, 10n ** BigInt(places - dropped));
  return size > MAX_BINARY ? MAX_BINARY : size;
}

/** Without its last `dropped` digits, one more when any of them says something. */
function roundedUp(digits: string, dropped: number): bigint {
  if (dropped >= digits.length) return 1n;
  const end = digits.length - dropped;
  const kept = BigInt(digits.slice(0, end));
  return /[1-9]/.test(digits.slice(end)) ? kept + 1n : kept;
}

function within(nanos: bigint): bigint {
  if (nanos > MOST) return MOST;
  return nanos < -MOST ? -MOST : nanos;
}

function divideAwayFromZero(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  if (value % by === 0n) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

function writeDecimal(nanos: bigint, asExponent: boolean): string {
  const largest = asExponent ? Infinity : decimalSuffixes.length - 1;
  let mantissa = nanos;
  let step = 0;
  for (; step < largest && mantissa % 1000n === 0n; step++) mantissa /= 1000n;
  if (!asExponent) return `${mantissa}${decimalSuffixes[step]}`;
  const exponent = step * 3 + NANO_EXPONENT;
  return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
}

function writeBinary(units: bigint): string {
  let mantissa = units;
  let step = 0;
  for (; step < binarySuffixes.length - 1 && mantissa % 1024n === 0n; step++) mantissa /= 1024n;
  return `${mantissa}${binarySuffixes[step]}`;
}
