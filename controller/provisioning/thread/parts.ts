/**
 * What many rows have in common travels once and is named by a number from then on: the spec and the labels of Pods of
 * one template, a size of machine, a pool.
 *
 * A part that was seen is known again by identity; one that was not, by its text, so that equal parts of objects that
 * share nothing are one part all the same. Texts are JSON: the thread parses each once.
 */

/** A part that the thread has. */
export interface Part {
  readonly id: number;
  readonly text: string;
  /** Parts that it names, which stay as long as it does. */
  readonly inner: readonly Part[];
  /** Rows and parts that name it; none: the thread forgets it. */
  uses: number;
}

/** A part as the thread is told of it. */
export type PartNews = readonly [id: number, text: string];

export class Parts {
  /** By the way in which an object is written: of one spec a pending Pod tells more than one that has a place. */
  readonly #seen = new Map<unknown, WeakMap<object, Part>>();
  readonly #known = new Map<string, Part>();
  #added: PartNews[] = [];
  #gone: number[] = [];
  #last = 0;

  /**
   * The part that stands for an object. Nobody uses it yet: see {@link Parts.hold}.
   *
   * @param textOf  all of the object that travels, as JSON
   */
  of<T extends object>(object: T, textOf: (object: T) => string): Part {
    return this.#seenAs(object, textOf, () => this.#named(textOf(object), []));
  }

  /** The part that stands for a list: the parts of its items. */
  ofList<T extends object>(list: readonly T[], textOf: (item: T) => string): Part {
    return this.#seenAs(list, textOf, () => {
      const inner = list.map((item) => this.of(item, textOf));
      return this.#named(JSON.stringify(inner.map(({ id }) => id)), inner);
    });
  }

  hold(parts: readonly Part[]): void {
    for (const part of parts) {
      part.uses += 1;
      if (part.uses === 1) this.hold(part.inner);
    }
  }

  /** A part that nobody holds is gone; should it come again, it is a new one. */
  release(parts: readonly Part[]): void {
    for (const part of parts) {
      part.uses -= 1;
      if (part.uses > 0) continue;
      this.#known.delete(part.text);
      this.#gone.push(part.id);
      this.release(part.inner);
    }
  }

  /** What the thread has to be told before the next rows. */
  takeAdded(): PartNews[] {
    return this.#added.splice(0);
  }

  /** What the thread may forget after these rows. */
  takeGone(): number[] {
    return this.#gone.splice(0);
  }

  #named(text: string, inner: readonly Part[]): Part {
    const known = this.#known.get(text);
    if (known) return known;
    const part: Part = { id: (this.#last += 1), text, inner, uses: 0 };
    this.#known.set(text, part);
    this.#added.push([part.id, text]);
    return part;
  }

  #seenAs(object: object, how: unknown, find: () => Part): Part {
    const seen = this.#seen.get(how) ?? new WeakMap<object, Part>();
    this.#seen.set(how, seen);
    const before = seen.get(object);
    if (before && this.#known.get(before.text) === before) return before;
    const part = find();
    seen.set(object, part);
    return part;
  }
}
