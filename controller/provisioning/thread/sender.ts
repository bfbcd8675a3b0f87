import type { Problem } from '#scheduling/solver.ts';

import type { Slices } from '../slices.ts';
import { listNames, lists, type ListName, type Row, type Travel } from './lists.ts';
import type { Ask, Change, ToThread } from './messages.ts';
import { Parts, type Part } from './parts.ts';

/** Rows of one message: a thousandth of a second to hand over. */
const mostRows = 500;

/** What the thread was told of one item. */
interface Told {
  item: object;
  readonly row: Row;
  readonly parts: readonly Part[];
  /** The pass that had it last. */
  pass: number;
}

/**
 * Tells a thread what has changed since the last problem. It remembers what it told: an item that is the very same
 * object costs a look, one that came as another object and says the same costs a comparison.
 */
export class Sender {
  readonly #post: (message: ToThread) => void;
  readonly #parts = new Parts();
  readonly #told = new Map<ListName, Map<string, Told>>(listNames.map((name) => [name, new Map()]));
  #pass = 0;

  constructor(post: (message: ToThread) => void) {
    this.#post = post;
  }

  /**
   * When it breaks off, what was told stays told, and the next problem begins from there.
   *
   * @throws the signal's reason, or why an item cannot be written
   */
  async send(problem: Problem, number: number, slices: Slices, signal: AbortSignal): Promise<void> {
    this.#pass += 1;
    const told: ListName[] = [];
    for (const name of listNames) {
      const travel = lists[name] as unknown as Travel<object>;
      const items = travel.of(problem);
      if (!items) continue;
      told.push(name);
      // oxlint-disable-next-line no-await-in-loop -- one list after the other
      await this.#sendList(name, travel, items, slices, signal);
    }
    this.#post(askOf(problem, number, told));
  }

  async #sendList(
    list: ListName,
    travel: Travel<object>,
    items: Iterable<readonly [string, object]>,
    slices: Slices,
    signal: AbortSignal,
  ): Promise<void> {
    const told = this.#told.get(list) ?? new Map<string, Told>();
    const set: [string, Row][] = [];
    let gone: string[] = [];
    try {
      for (const [key, item] of items) {
        const row = this.#rowIfNew(told, key, item, travel);
        if (row) set.push([key, row]);
        if (set.length >= mostRows) this.#change(list, { set: set.splice(0) });
        // oxlint-disable-next-line no-await-in-loop -- others get their turn
        if (slices.isDue) await slices.next();
        signal.throwIfAborted();
      }
      gone = this.#dropUnseen(told);
    } finally {
      this.#change(list, { set, gone }); // remembered as told, so told, whatever broke it off
    }
  }

  /** The row, unless the thread has it. */
  #rowIfNew(
    told: Map<string, Told>,
    key: string,
    item: object,
    travel: Travel<object>,
  ): Row | undefined {
    const before = told.get(key);
    if (before) before.pass = this.#pass;
    if (before?.item === item) return undefined;
    const { row, parts } = travel.write(item, this.#parts);
    if (before && !travel.isItself && isSame(before.row, row)) {
      before.item = item;
      return undefined;
    }
    this.#parts.hold(parts);
    if (before) this.#parts.release(before.parts);
    told.set(key, { item, row: travel.isItself ? [] : row, parts, pass: this.#pass });
    return row;
  }

  #dropUnseen(told: Map<string, Told>): string[] {
    const gone: string[] = [];
    for (const [key, { pass, parts }] of told) {
      if (pass === this.#pass) continue;
      told.delete(key);
      this.#parts.release(parts);
      gone.push(key);
    }
    return gone;
  }

  #change(list: ListName, news: { set: [string, Row][]; gone?: string[] }): void {
    const { set, gone = [] } = news;
    const parts = this.#parts.takeAdded();
    const forget = this.#parts.takeGone();
    const isEmpty = [parts, set, gone, forget].every(({ length }) => length === 0);
    const change: Change = { kind: 'change', parts, list, set, gone, forget };
    if (!isEmpty) this.#post(change);
  }
}

function askOf(
  { preferencePolicy, minValuesPolicy, defaultSpread }: Problem,
  number: number,
  told: readonly ListName[],
): Ask {
  return {
    kind: 'solve',
    number,
    lists: told,
    settings: {
      ...(preferencePolicy && { preferencePolicy }),
      ...(minValuesPolicy && { minValuesPolicy }),
      ...(defaultSpread && { defaultSpread: JSON.stringify(defaultSpread.constraints) }),
    },
  };
}

function isSame(a: Row, b: Row): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
