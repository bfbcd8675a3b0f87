import { isDeepStrictEqual } from 'node:util';

import { hashOf } from './hash.ts';
import type { Span } from './wire.ts';

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

  /** @param onTwin  told of each part once, when it is met a second time */
  constructor(onTwin: (part: object) => void = () => {}) {
    this.#onTwin = onTwin;
  }

  /** How many parts it refers to, those that are gone since the last sweep included. */
  get size(): number {
    return this.#parts.size;
  }

  /**
   * The part that is so written. Where two writings meet at one number, the later takes the place: those that have the
   * earlier part keep it, and it is only not found any more.
   *
   * @param bytes  how it is written, from `from` to `to`
   * @param make  reads the part
   */
  share({ bytes, from, to }: Span, make: () => object): object {
    const hash = hashOf(bytes, from, to);
    const written = bytes.toString('latin1', from, to);
    const known = this.#parts.get(hash)?.deref();
    const writing = known && this.#writings.get(known);
    if (known && writing === written) return known;
    const part = make();
    if (known && writing === undefined && isDeepStrictEqual(known, part)) {
      this.#writings.set(known, written);
      this.#onTwin(known);
      return known;
    }
    if (this.#parts.size >= this.#sweepAt) this.#sweep();
    this.#parts.set(hash, new WeakRef(part));
    return part;
  }

  #sweep(): void {
    for (const [hash, part] of this.#parts) if (!part.deref()) this.#parts.delete(hash);
    this.#sweepAt = Math.max(firstSweep, 2 * this.#parts.size);
  }
}
