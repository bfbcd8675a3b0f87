import type { Counter } from './counter.ts';
import { handleOf, type Labels } from './selector.ts';

/** Counters, to be found by a Pod that they may be about without asking each. */
export class CounterIndex {
  readonly #known = new Map<string, Counter>();
  readonly #byHandle = new Map<string, Counter[]>();
  /** Those that no single label leads to. */
  readonly #others: Counter[] = [];

  at(id: string, make: () => Counter): Counter {
    const known = this.#known.get(id);
    if (known) return known;
    const counter = make();
    this.#known.set(id, counter);
    this.#list(counter).push(counter);
    return counter;
  }

  get all(): readonly Counter[] {
    return [...this.#known.values()];
  }

  /** Labels that selectors look at. */
  get labelKeys(): readonly string[] {
    return this.all.flatMap(({ matchers }) => matchers.flatMap(({ selector }) => selector.keys));
  }

  /** Those that a Pod with these labels is counted by, in the order in which they came. */
  about(namespace: string, labels: Labels): Counter[] {
    if (this.#known.size === 0) return [];
    const found = this.#others.filter((counter) => counter.selects(namespace, labels));
    for (const key in labels) {
      const led = this.#byHandle.get(handleOf(key, labels[key] ?? '')) ?? [];
      for (const counter of led) if (counter.selects(namespace, labels)) found.push(counter);
    }
    return found;
  }

  #list({ matchers }: Counter): Counter[] {
    const handle = matchers.map(({ selector }) => selector.handle).find((one) => one !== undefined);
    if (handle === undefined) return this.#others;
    const list = this.#byHandle.get(handle) ?? [];
    this.#byHandle.set(handle, list);
    return list;
  }
}
