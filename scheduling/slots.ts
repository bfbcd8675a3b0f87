/**
 * Resources as numbers in fixed slots, since a pass compares them many million times.
 *
 * A number is exact up to 2^53. Whatever is asked for and does not fit into that is refused; whatever there is more of
 * counts as that much. So rounding never makes room that is not there.
 */
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

/** One number for each slot: thousandths of cpu, whole units of everything else, as kube-scheduler counts. */
export type Amounts = Float64Array;

/** By slot. */
export function less(a: Amounts, b: Amounts): Amounts {
  return a.map((amount, slot) => amount - b[slot]!);
}

/** More is asked for than can be counted exactly. */
export class AmountTooLarge extends Error {
  readonly resource: string;

  constructor(resource: string, text: string) {
    super(`asks for ${shortened(text)} of ${resource}, which is more than can be counted exactly`);
    this.name = 'AmountTooLarge';
    this.resource = resource;
  }
}

const largest = BigInt(Number.MAX_SAFE_INTEGER);

/** A number may have a thousand digits, and a message of an event has room for as many. */
function shortened(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 20)}… (${text.length} characters)`;
}

/** A quantity in whole units, parts rounded either way; Infinity when it cannot be counted exactly. */
interface Units {
  readonly up: number;
  readonly down: number;
}

export class Slots {
  readonly names: readonly string[];
  readonly #index: ReadonlyMap<string, number>;
  readonly #read = new Map<string, Units>();
  readonly #written: Map<number, string>[];

  constructor(names: Iterable<string>) {
    this.names = [...new Set(names)];
    this.#index = new Map(this.names.map((name, index) => [name, index]));
    this.#written = this.names.map(() => new Map<number, string>());
  }

  none(): Amounts {
    return new Float64Array(this.names.length);
  }

  /**
   * What is asked for, parts rounded up.
   *
   * @throws InvalidQuantity, AmountTooLarge
   */
  needs(list: Readonly<ResourceList>): Amounts {
    return this.#fill(list, (name, text) => {
      const { up } = this.#units(name, text);
      if (up === Infinity) throw new AmountTooLarge(name, text);
      return up;
    });
  }

  /**
   * What there is, parts rounded down; more than can be counted exactly counts as the most that can.
   *
   * @throws InvalidQuantity
   */
  has(list: Readonly<ResourceList>): Amounts {
    return this.#fill(list, (name, text) => clamp(this.#units(name, text).down));
  }

  /**
   * What is taken already, parts rounded up. More than can be counted exactly counts as the most that can, which is
   * all that there can be.
   *
   * @throws InvalidQuantity
   */
  takes(list: Readonly<ResourceList>): Amounts {
    return this.#fill(list, (name, text) => clamp(this.#units(name, text).up));
  }

  /** Canonical quantities of what is not zero. */
  toList(amounts: Amounts): ResourceList {
    const list: ResourceList = {};
    this.names.forEach((name, index) => {
      const amount = amounts[index] ?? 0;
      if (amount !== 0) list[name] = this.#text(name, index, amount);
    });
    return list;
  }

  #fill(list: Readonly<ResourceList>, amountOf: (name: string, text: string) => number): Amounts {
    const amounts = this.none();
    for (const name in list) {
      const index = this.#index.get(name);
      const text = list[name];
      if (index !== undefined && text !== undefined) amounts[index] = amountOf(name, text);
    }
    return amounts;
  }

  #units(name: string, text: string): Units {
    const isCpu = name === 'cpu';
    const key = isCpu ? `cpu ${text}` : text;
    const known = this.#read.get(key);
    if (known) return known;
    const units = plainUnits(isCpu, text) ?? unitsOf(isCpu, text);
    this.#read.set(key, units);
    return units;
  }

  #text(name: string, index: number, amount: number): string {
    const written = this.#written[index];
    const known = written?.get(amount);
    if (known !== undefined) return known;
    const text = unitText(name, amount);
    written?.set(amount, text);
    return text;
  }
}

const plain = /^(\d{1,9})(|m|k|M|G|Ki|Mi|Gi)$/;
const factors: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/** The common spellings, many times faster; the largest is below 10^18, and is checked like any other. */
function plainUnits(isCpu: boolean, text: string): Units | undefined {
  const [, digits, suffix = ''] = plain.exec(text) ?? [];
  const factor = isCpu && suffix === 'm' ? 1 : factors[suffix]! * (isCpu ? 1000 : 1);
  const amount = Number(digits) * factor;
  return Number.isSafeInteger(amount) ? { up: amount, down: amount } : undefined;
}

function unitsOf(isCpu: boolean, text: string): Units {
  const quantity = Quantity.parse(text);
  const up = isCpu ? quantity.toMilli() : quantity.toInteger();
  const isWhole = quantity.compareTo(Quantity.parse(isCpu ? `${up}m` : `${up}`)) === 0;
  const down = isWhole || up <= 0n ? up : up - 1n;
  return { up: toNumber(up), down: toNumber(down) };
}

const clamp = (units: number): number =>
  Math.max(Math.min(units, Number.MAX_SAFE_INTEGER), Number.MIN_SAFE_INTEGER);

/** Infinity for what cannot be counted exactly. */
const toNumber = (units: bigint): number => (units > largest ? Infinity : Number(units));

/** Memory reads best in powers of two. */
export function unitText(name: string, amount: number): string {
  if (name === 'cpu') return Quantity.parse(`${amount}m`).toString();
  return Quantity.ofInteger(amount, isBinary(name) ? 'BinarySI' : 'DecimalSI').toString();
}

export function isBinary(name: string): boolean {
  return name === 'memory' || name === 'ephemeral-storage' || name.startsWith('hugepages-');
}
