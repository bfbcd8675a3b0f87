type ValuesOf<T> = (object: T) => readonly string[];

interface Index<T> {
  readonly valuesOf: ValuesOf<T>;
  /** The present objects by value, and by key within one. */
  readonly buckets: Map<string, Map<string, T>>;
}

/**
 * Finds objects by what they say: Pods by their node, Nodes by their providerID. An object may have any number of values in
 * an index, none included.
 */
export class Indexer<T> {
  readonly #indexes = new Map<string, Index<T>>();
  readonly #onError: (index: string, error: unknown) => void;

  /** @param onError hears of index functions that throw; the object is then not found by that index */
  constructor(onError: (index: string, error: unknown) => void) {
    this.#onError = onError;
  }

  /** @throws TypeError when the name is taken: two rooms would read each other's values */
  add(name: string, valuesOf: ValuesOf<T>, present: Iterable<[string, T]>): void {
    if (this.#indexes.has(name)) throw new TypeError(`the index ${name} exists already`);
    const index: Index<T> = { valuesOf, buckets: new Map() };
    this.#indexes.set(name, index);
    for (const [key, object] of present) this.#enter(name, index, key, object);
  }

  /** @throws TypeError for an index that nobody added: an empty answer would be a lie */
  by(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (!index) throw new TypeError(`there is no index ${name}`);
    return [...(index.buckets.get(value)?.values() ?? [])];
  }

  /** Takes the object in, in place of the one that had its key. */
  replace(key: string, old: T | undefined, object: T | undefined): void {
    for (const [name, index] of this.#indexes) {
      if (old !== undefined) this.#leave(name, index, key, old);
      if (object !== undefined) this.#enter(name, index, key, object);
    }
  }

  #enter(name: string, index: Index<T>, key: string, object: T): void {
    for (const value of this.#values(name, index, object)) {
      const bucket = index.buckets.get(value);
      if (bucket) bucket.set(key, object);
      else index.buckets.set(value, new Map([[key, object]]));
    }
  }

  #leave(name: string, index: Index<T>, key: string, object: T): void {
    for (const value of this.#values(name, index, object)) {
      const bucket = index.buckets.get(value);
      bucket?.delete(key);
      if (bucket?.size === 0) index.buckets.delete(value);
    }
  }

  #values(name: string, index: Index<T>, object: T): readonly string[] {
    try {
      return index.valuesOf(object);
    } catch (error) {
      this.#onError(name, error);
      return [];
    }
  }
}
