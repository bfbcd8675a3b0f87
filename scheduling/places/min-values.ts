import type { Size } from '../machines/size.ts';
import { valuesNow } from '../machines/suiting.ts';
import type { Requirements } from '../requirements.ts';
import type { ValueSet } from '../value-set.ts';

/**
 * `minValues` of a claim's requirements: so many different values of a label must be left among its sizes.
 *
 * A lenient claim gives up what cannot be had when it is opened, and keeps what is left from then on, as upstream's
 * MinValuesPolicy BestEffort.
 */
export class MinValues {
  readonly #isLenient: boolean;
  /** What was given up: the number that is asked for instead. */
  #relaxed: ReadonlyMap<string, number> | undefined;

  constructor(isLenient: boolean) {
    this.#isLenient = isLenient;
  }

  get relaxed(): ReadonlyMap<string, number> {
    return this.#relaxed ?? new Map();
  }

  /** Whether the sizes have enough of everything. */
  admit(requirements: Requirements, sizes: () => readonly Size[]): boolean {
    if (this.#isLenient && !this.#relaxed) return true;
    return this.missed(requirements, sizes).size === 0;
  }

  /** Once a Pod is added: what is not there now was given up. */
  settle(requirements: Requirements, sizes: () => readonly Size[]): void {
    if (this.#isLenient) this.#relaxed ??= this.missed(requirements, sizes);
  }

  /** Keys of which there are too few values, with how many there are. */
  missed(requirements: Requirements, sizes: () => readonly Size[]): ReadonlyMap<string, number> {
    const asked = askedIn(requirements);
    if (asked.length === 0) return nothing;
    const missed = new Map<string, number>();
    const left = sizes();
    for (const [key, set] of asked) {
      const values = new Set(left.flatMap(({ type }) => valuesNow(type, key)));
      const count = [...values].filter((value) => set.has(value)).length;
      if (count < (this.#relaxed?.get(key) ?? set.minValues ?? 0)) missed.set(key, count);
    }
    return missed;
  }
}

const nothing: ReadonlyMap<string, number> = new Map();
const known = new WeakMap<Requirements, readonly (readonly [string, ValueSet])[]>();

/** Claims share their requirements, and most have none of these. */
function askedIn(requirements: Requirements): readonly (readonly [string, ValueSet])[] {
  let asked = known.get(requirements);
  if (!asked) {
    asked = [...requirements].filter(([, { minValues }]) => minValues !== undefined);
    known.set(requirements, asked);
  }
  return asked;
}
