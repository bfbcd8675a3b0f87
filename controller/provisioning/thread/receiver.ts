import type { DefaultSpread, Problem } from '#scheduling/solver.ts';

import {
  listNames,
  lists,
  type KnownParts,
  type ListName,
  type Row,
  type Travel,
} from './lists.ts';
import type { Ask, Change, Constraints } from './messages.ts';

/**
 * The problem as the thread knows it. What has not changed is the very same object as in the last problem: an item, a
 * spec that Pods share, a pool's list of sizes, a whole list.
 */
export class Receiver {
  readonly #parts = new ReceivedParts();
  readonly #lists = new Map<ListName, ReceivedList>(
    listNames.map((name) => [name, new ReceivedList(lists[name] as unknown as Travel<object>)]),
  );
  #spread: { text: string; constraints: Constraints } | undefined;

  take({ parts, list, set, gone, forget }: Change): void {
    for (const [id, text] of parts) this.#parts.add(id, text);
    const received = this.#lists.get(list);
    for (const [key, row] of set) received?.set(key, row, this.#parts);
    for (const key of gone) received?.delete(key);
    for (const id of forget) this.#parts.delete(id);
  }

  problem({ settings, lists: told }: Ask): Problem {
    const { defaultSpread: spread, ...policies } = settings;
    const found: Record<string, unknown> = {};
    for (const name of told) {
      const list = this.#lists.get(name);
      found[name] = isMap(name) ? list?.map : list?.items;
    }
    const { selectors, ...rest } = found as unknown as Problem & Pick<DefaultSpread, 'selectors'>;
    const given = spread !== undefined && {
      defaultSpread: { constraints: this.#constraints(spread), selectors },
    };
    return { ...rest, ...policies, ...given };
  }

  #constraints(text: string): Constraints {
    if (this.#spread?.text !== text)
      this.#spread = { text, constraints: JSON.parse(text) as Constraints };
    return this.#spread.constraints;
  }
}

function isMap(name: ListName): boolean {
  return name === 'namespaces' || name === 'volumes' || name === 'selectors';
}

/** One list, which is made anew only when something in it has changed. */
class ReceivedList {
  readonly #travel: Travel<object>;
  readonly #all = new Map<string, object>();
  #items: readonly object[] | undefined;
  #map: ReadonlyMap<string, object> | undefined;

  constructor(travel: Travel<object>) {
    this.#travel = travel;
  }

  get items(): readonly object[] {
    return (this.#items ??= [...this.#all.values()]);
  }

  get map(): ReadonlyMap<string, object> {
    return (this.#map ??= new Map(this.#all));
  }

  set(key: string, row: Row, known: KnownParts): void {
    this.#all.set(key, this.#travel.read(key, row, known));
    this.#change();
  }

  delete(key: string): void {
    this.#all.delete(key);
    this.#change();
  }

  #change(): void {
    this.#items = undefined;
    this.#map = undefined;
  }
}

class ReceivedParts implements KnownParts {
  readonly #parts = new Map<string | number, unknown>();
  readonly #lists = new Map<string | number, readonly unknown[]>();

  add(id: number, text: string): void {
    this.#parts.set(id, JSON.parse(text));
  }

  delete(id: number): void {
    this.#parts.delete(id);
    this.#lists.delete(id);
  }

  part<T>(id: string | number | undefined): T {
    if (id === undefined || !this.#parts.has(id)) throw new Error(`part ${id} was never told`);
    return this.#parts.get(id) as T;
  }

  list<T>(id: string | number | undefined): readonly T[] {
    const ids = this.part<number[]>(id);
    const known = this.#lists.get(id ?? 0) ?? ids.map((inner) => this.part(inner));
    this.#lists.set(id ?? 0, known);
    return known as readonly T[];
  }
}
