import { isDeepStrictEqual } from 'node:util';

import { hashOf } from './hash.ts';

/** How full the table may become before it is first looked through for what is gone. */
const firstSweep = 1024;

/**
 * Parts that equal objects have in common, like the labels of all Pods of one ReplicaSet, kept once.
 *
 * It holds its parts weakly: one that no object has any more is gone with the last that had it. Of such a part a
 * reference stays, a few machine words, until the table has doubled since it was last looked through.
 */
export class SharedParts {
  readonly #parts = new Map<number, WeakRef<object>>();
  /** How parts were written that were met a second time; it goes with them. */
  readonly #writings = new WeakMap<object, string>();
  readonly #onTwin: (part: object) => void;
  #sweepAt = firstSweep;
  /** What was looked for last. */
  #hash = 0;
  #written = '';

  /** @param onTwin  told of each part once, when it is met a second time */
  constructor(onTwin: (part: object) => void = () => {}) {
    this.#onTwin = onTwin;
  }

  /** How many parts it refers to, those that are gone since the last sweep included. */
  get size(): number {
    return this.#parts.size;
  }

  /** The part that is so written: the bytes from `from` to `to`. What is not found can be added next. */
  find(bytes: Buffer, from: number, to: number): object | undefined {
    this.#hash = hashOf(bytes, from, to);
    this.#written = bytes.toString('latin1', from, to);
    const known = this.#parts.get(this.#hash)?.deref();
    return known && this.#writings.get(known) === this.#written ? known : undefined;
  }

  /**
   * Where two writings meet at one number, the later takes the place: those that have the earlier part keep it, and it is
   * only not found any more.
   *
   * @param made  of what was looked for last
   * @returns the part, which is another one if an equal one was there that was met only once so far
   */
  add(made: object): object {
    const known = this.#parts.get(this.#hash)?.deref();
    if (known && !this.#writings.has(known) && isDeepStrictEqual(known, made)) {
      this.#writings.set(known, this.#written);
      this.#onTwin(known);
      return known;
    }
    if (this.#parts.size >= this.#sweepAt) this.#sweep();
    this.#parts.set(this.#hash, new WeakRef(made));
    return made;
  }

  #sweep(): void {
    for (const [hash, part] of this.#parts) if (!part.deref()) this.#parts.delete(hash);
    this.#sweepAt = Math.max(firstSweep, 2 * this.#parts.size);
  }
}
