import { setImmediate as turn } from 'node:timers/promises';

import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';

import { Indexer } from './indexer.ts';

/** How many objects of a full state are told before the event loop gets a turn: two or three milliseconds of handlers. */
const slice = 500;

/** What came of a change, told after the store holds it. */
export interface StoreListener<T extends KubeObject> {
  add(object: Live<T>): void;
  update(object: Live<T>, old: Live<T>): void;
  delete(object: Live<T>): void;
}

/**
 * The objects of one kind by key, with their indexes. It turns what the API server says into what has really changed:
 *
 * - an object that comes with another UID is a deletion and a creation, since a Pod of the same name is not the same Pod
 * - an object that comes again unchanged is nothing
 * - an object that a full state leaves out has been deleted while nobody watched
 */
export class Store<T extends KubeObject> {
  readonly #objects = new Map<string, Live<T>>();
  readonly #indexer: Indexer<Live<T>>;
  readonly #listener: StoreListener<T>;

  constructor(listener: StoreListener<T>, onIndexError: (index: string, error: unknown) => void) {
    this.#listener = listener;
    this.#indexer = new Indexer(onIndexError);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): Live<T> | undefined {
    return this.#objects.get(key);
  }

  list(): Live<T>[] {
    return [...this.#objects.values()];
  }

  by(index: string, value: string): Live<T>[] {
    return this.#indexer.by(index, value);
  }

  addIndex(name: string, valuesOf: (object: Live<T>) => readonly string[]): void {
    this.#indexer.add(name, valuesOf, this.#objects);
  }

  put(object: Live<T>): void {
    this.#put(keyOf(object), object);
  }

  #put(key: string, object: Live<T>): void {
    const old = this.#objects.get(key);
    if (old && isSameVersion(old, object)) return;
    if (old && old.metadata.uid !== object.metadata.uid) {
      this.#exchange(key, old, undefined);
      this.#listener.delete(old);
      this.#put(key, object);
      return;
    }
    this.#exchange(key, old, object);
    if (old) this.#listener.update(object, old);
    else this.#listener.add(object);
  }

  /** @param object as it was last: its listeners get this, not what the store still held */
  remove(object: Live<T>): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    if (!old) return;
    this.#exchange(key, old, undefined);
    this.#listener.delete(old.metadata.uid === object.metadata.uid ? object : old);
  }

  /**
   * Takes a full state in. Deletions come first, so that nothing is seen twice under two names.
   *
   * The event loop goes on meanwhile, and who looks sees some objects as they were and some as they are. Nothing may be
   * put or removed until it resolves.
   */
  async replace(state: ReadonlyMap<string, Live<T>>): Promise<void> {
    for (const [key, old] of this.#objects) if (!state.has(key)) this.remove(old);
    let taken = 0;
    for (const [key, object] of state) {
      this.#put(key, object);
      taken += 1;
      // oxlint-disable-next-line no-await-in-loop -- slice by slice
      if (taken % slice === 0) await turn();
    }
  }

  #exchange(key: string, old: Live<T> | undefined, object: Live<T> | undefined): void {
    if (object) this.#objects.set(key, object);
    else this.#objects.delete(key);
    this.#indexer.replace(key, old, object);
  }
}

/** `namespace/name`, or `name`. */
export function keyOf(object: Live<KubeObject>): string {
  return keyText(object.metadata);
}

function isSameVersion(one: Live<KubeObject>, other: Live<KubeObject>): boolean {
  const [a, b] = [one.metadata, other.metadata];
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}
