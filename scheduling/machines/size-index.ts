import type { InstanceType } from '#schemas/instances/instance-type.ts';
import { labels } from '#schemas/names.ts';

import type { Requirements } from '../requirements.ts';
import type { ValueSet } from '../value-set.ts';
import type { Size } from './size.ts';
import { valuesOf } from './suiting.ts';

/** Sizes as bits, one for each place in the catalog. */
type Bits = Uint32Array;

/** Sizes by each value of a label, and those for which it is no matter of size. */
interface Values {
  readonly byValue: ReadonlyMap<string, Bits>;
  readonly without: Bits;
}

/** Which sizes of a pool have what: for each set of values that is asked of a key, found out once. */
export class SizeIndex {
  readonly #sizes: readonly Size[];
  readonly #values = new Map<string, Values>();
  readonly #suiting = new Map<string, Bits>();
  readonly #byPrice = new Map<string, readonly PricedSize[]>();

  constructor(sizes: readonly Size[]) {
    this.#sizes = sizes;
  }

  /** How many answers are kept. */
  get kept(): number {
    return this.#suiting.size + this.#byPrice.size + this.#values.size;
  }

  /** Whether a size decides about the label; of a custom one none does. */
  decides(key: string): boolean {
    return this.#valuesOf(key).byValue.size > 0;
  }

  /** Sizes that have the labels, be they sold or not, in the order of the catalog. */
  suited(requirements: Requirements): readonly Size[] {
    const bits = this.#bitsOf(requirements);
    return this.#sizes.filter(({ index }) => has(bits, index));
  }

  /** Sizes that have the labels and are sold now in an allowed zone, cheapest first; equal ones as in the catalog. */
  sold(requirements: Requirements): readonly PricedSize[] {
    const bits = this.#bitsOf(requirements);
    return this.#pricesIn(requirements.get(labels.zone)).filter(({ size }) =>
      has(bits, size.index),
    );
  }

  #bitsOf(requirements: Requirements): Bits {
    const all = this.#none().fill(0xffffffff);
    for (const [key, set] of requirements) {
      const bits = this.#bitsOfSet(key, set);
      for (let word = 0; word < all.length; word++) all[word]! &= bits[word]!;
    }
    return all;
  }

  #bitsOfSet(key: string, wanted: ValueSet): Bits {
    const id = `${key}\0${wanted.id}`;
    const known = this.#suiting.get(id);
    if (known) return known;
    const { byValue, without } = this.#valuesOf(key);
    const bits = without.slice();
    for (const [value, having] of byValue) if (wanted.has(value)) add(bits, having);
    this.#suiting.set(id, bits);
    return bits;
  }

  #valuesOf(key: string): Values {
    const known = this.#values.get(key);
    if (known) return known;
    const byValue = new Map<string, Bits>();
    const without = this.#none();
    for (const { index, type } of this.#sizes) {
      const values = valuesOf(type, key);
      if (values.length === 0) set(without, index);
      for (const value of values) {
        const bits = byValue.get(value) ?? this.#none();
        byValue.set(value, bits);
        set(bits, index);
      }
    }
    const found = { byValue, without };
    this.#values.set(key, found);
    return found;
  }

  #none(): Bits {
    return new Uint32Array((this.#sizes.length + 31) >> 5);
  }

  #pricesIn(zones: ValueSet | undefined): readonly PricedSize[] {
    const id = zones?.id ?? '';
    const known = this.#byPrice.get(id);
    if (known) return known;
    const sold = this.#sizes.flatMap((size) => {
      const price = priceOf(size.type, zones);
      return price === undefined ? [] : [{ size, price }];
    });
    const sorted = sold.toSorted((a, b) => (a.price === b.price ? 0 : a.price - b.price));
    this.#byPrice.set(id, sorted);
    return sorted;
  }
}

export interface PricedSize {
  readonly size: Size;
  /** USD per hour; Infinity when nobody knows. */
  readonly price: number;
}

/** USD per hour where it is sold now, in an allowed zone; Infinity when nobody knows; undefined when it is not sold. */
export function priceOf(type: InstanceType, zones: ValueSet | undefined): number | undefined {
  let least: number | undefined;
  for (const { available, zone, price = Infinity } of type.offerings) {
    if (available && (zones?.has(zone) ?? true)) least = Math.min(least ?? price, price);
  }
  return least;
}

function set(bits: Bits, index: number): void {
  bits[index >> 5]! |= 1 << (index & 31);
}

function add(bits: Bits, more: Bits): void {
  for (let word = 0; word < bits.length; word++) bits[word]! |= more[word]!;
}

function has(bits: Bits, index: number): boolean {
  return (bits[index >> 5]! & (1 << (index & 31))) !== 0;
}
