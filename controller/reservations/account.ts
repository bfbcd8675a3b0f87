import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import { amountOf, type Bound, type Entry, type Ledger, type Verdict } from './ledger.ts';

type Sums = Map<string, Quantity>;

/**
 * A ledger while asks are settled on it. The sums that limits are judged by are counted once and then kept up: claims of a
 * burst that each counted all the others would be counted n² times, which for 200 is a turn of a third of a second.
 */
export class Account {
  readonly #entries: Map<string, Entry>;
  /** What all entries hold that a bound covers; bounds of one policy cover the same. */
  readonly #sums = new Map<Bound['covers'], Sums>();

  constructor(ledger: Ledger) {
    this.#entries = new Map(ledger);
  }

  get entries(): Ledger {
    return this.#entries;
  }

  put(uid: string, entry: Entry): void {
    this.remove(uid);
    this.#entries.set(uid, entry);
    this.#book(entry, (sum, amount) => sum.add(amount));
  }

  remove(uid: string): void {
    const entry = this.#entries.get(uid);
    if (!entry) return;
    this.#entries.delete(uid);
    this.#book(entry, (sum, amount) => sum.sub(amount));
  }

  /**
   * Whether `uid` may hold these resources. What it holds already it may keep or lessen, also above a limit that was
   * lowered since: its machine may be running.
   *
   * @throws InvalidQuantity when a limit is none
   */
  judge(bounds: readonly Bound[], uid: string, resources: Readonly<ResourceList>): Verdict {
    const held = this.#entries.get(uid)?.resources ?? {};
    for (const { resource, amount: text, policy, covers } of bounds) {
      const asked = amountOf(resources, resource);
      const limit = Quantity.parse(text);
      if (asked.compareTo(amountOf(held, resource)) <= 0) continue;
      const use = this.#usedByOthers(uid, resource, covers);
      if (use.add(asked).compareTo(limit) > 0) {
        const amounts = { limit: limit.toString(), use: use.toString(), asked: asked.toString() };
        return { granted: false, resource, ...amounts, ...(policy !== undefined && { policy }) };
      }
    }
    return { granted: true };
  }

  #usedByOthers(uid: string, resource: string, covers: Bound['covers']): Quantity {
    const all = this.#sumsOf(covers).get(resource) ?? Quantity.zero;
    const own = this.#entries.get(uid);
    const isCounted = own !== undefined && (covers?.(own) ?? true);
    return isCounted ? all.sub(amountOf(own.resources, resource)) : all;
  }

  #sumsOf(covers: Bound['covers']): Sums {
    const known = this.#sums.get(covers);
    if (known) return known;
    const sums: Sums = new Map();
    this.#sums.set(covers, sums);
    for (const entry of this.#entries.values()) {
      if (covers?.(entry) ?? true) bookIn(sums, entry, (sum, amount) => sum.add(amount));
    }
    return sums;
  }

  #book(entry: Entry, change: Change): void {
    for (const [covers, sums] of this.#sums) {
      if (covers?.(entry) ?? true) bookIn(sums, entry, change);
    }
  }
}

type Change = (sum: Quantity, amount: Quantity) => Quantity;

/** What is counted first decides how a sum is written. */
function bookIn(sums: Sums, { resources }: Entry, change: Change): void {
  for (const [resource, text] of Object.entries(resources)) {
    const amount = Quantity.parse(text);
    const sum = sums.get(resource) ?? amount.sub(amount);
    sums.set(resource, change(sum, amount));
  }
}
