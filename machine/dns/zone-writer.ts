import type { Clock } from '#schemas/time/clock.ts';

import type { MachineError } from '../errors.ts';
import { until } from '../until.ts';
import {
  type Change,
  changesFor,
  namesOf,
  plainName,
  type RecordSet,
  type ZoneView,
} from './changes.ts';
import type { AddressRecord, RecordOwner } from './provider.ts';
import { textChanges } from './texts.ts';
import { type Order, ZoneQueue } from './zone-queue.ts';

/** What a service that holds zones must do for one of them. */
export interface ZoneApi {
  /** For messages. */
  readonly id: string;
  /** Every record set of these names; others may be among them. */
  read(names: readonly string[]): Promise<readonly RecordSet[]>;
  /** All of it or nothing: a deletion names what is there exactly, a creation what is not. */
  change(changes: readonly Change[]): Promise<void>;
  /** Whether the service refused a batch for what is in it: something exists already, or reads otherwise by now. */
  isRefusal(error: unknown): boolean;
  /** @param doing  what was tried, as the beginning of a sentence */
  toError(error: unknown, doing: string): MachineError;
}

/** Services take ten times as many values in a batch, and more characters; a machine has about four, of 200 each. */
const changesPerBatch = 100;

interface Planned {
  readonly order: Order;
  readonly changes: readonly Change[];
}

/** Writes names of many machines into one zone with as few calls as it takes. */
export class ZoneWriter {
  readonly #zone: ZoneApi;
  readonly #queue: ZoneQueue;

  constructor(clock: Clock, zone: ZoneApi) {
    this.#zone = zone;
    this.#queue = new ZoneQueue(clock, async (orders) => this.#carryOut(orders));
  }

  /** Makes each record read exactly so. */
  async upsert(
    records: readonly AddressRecord[],
    owner: RecordOwner,
    signal: AbortSignal,
  ): Promise<void> {
    const wishes = records.map((record) => ({ name: plainName(record.name), record, owner }));
    return until(this.#queue.add({ wishes, texts: [] }), signal);
  }

  /** Removes every one of these names that this owner holds. */
  async remove(names: readonly string[], owner: RecordOwner, signal: AbortSignal): Promise<void> {
    const wishes = names.map((name) => ({ name: plainName(name), record: undefined, owner }));
    return until(this.#queue.add({ wishes, texts: [] }), signal);
  }

  /** Puts a text beside those that others have at the name, or takes it away from among them. */
  async setText(name: string, text: string, isThere: boolean, signal: AbortSignal): Promise<void> {
    const texts = [{ name: plainName(name), text, isThere }];
    return until(this.#queue.add({ wishes: [], texts }), signal);
  }

  /** Settles every order and throws nothing. */
  async #carryOut(orders: readonly Order[]): Promise<void> {
    try {
      const view = await this.#read(orders);
      const planned = joined(orders).flatMap((order) => plan(order, view));
      for (const batch of batches(planned)) {
        // oxlint-disable-next-line no-await-in-loop -- a zone takes one change at a time
        await this.#write(batch);
      }
    } catch (error) {
      const known = this.#zone.toError(error, `Reading zone ${this.#zone.id}`);
      for (const { settle } of orders) settle(known);
    }
  }

  /** One change for all; when it is refused, one change for each, so that only those at fault fail. */
  async #write(batch: readonly Planned[]): Promise<void> {
    try {
      await this.#zone.change(batch.flatMap(({ changes }) => changes));
      for (const { order } of batch) order.settle(undefined);
    } catch (error) {
      const known = this.#zone.toError(error, `Changing zone ${this.#zone.id}`);
      const isTheirs = batch.length > 1 && this.#zone.isRefusal(error);
      if (!isTheirs) {
        for (const { order } of batch) order.settle(known);
        return;
      }
      for (const one of batch) {
        // oxlint-disable-next-line no-await-in-loop -- a zone takes one change at a time
        await this.#write([one]);
      }
    }
  }

  async #read(orders: readonly Order[]): Promise<ZoneView> {
    const names = orders.flatMap(({ wishes, texts }) => [
      ...wishes.flatMap(namesOf),
      ...texts.map(({ name }) => name),
    ]);
    return Map.groupBy(await this.#zone.read([...new Set(names)]), ({ name }) => name);
  }
}

/** Orders about the texts of one name are one: each would change the whole of them. */
function joined(orders: readonly Order[]): Order[] {
  const byName = Map.groupBy(orders, ({ texts }) => texts[0]?.name);
  return [...byName].flatMap(([name, all]) => (name === undefined ? all : [asOne(all)]));
}

function asOne(orders: readonly Order[]): Order {
  return {
    wishes: [],
    texts: orders.flatMap(({ texts }) => texts),
    settle: (error) => {
      for (const { settle } of orders) settle(error);
    },
  };
}

/** What an order needs changed; an order that needs nothing, or cannot have it, is settled here. */
function plan(order: Order, view: ZoneView): Planned[] {
  try {
    const changes = [
      ...order.wishes.flatMap((wish) => changesFor(wish, view)),
      ...textChanges(order.texts, view),
    ];
    if (changes.length > 0) return [{ order, changes }];
    order.settle(undefined);
  } catch (error) {
    order.settle(error);
  }
  return [];
}

/** Groups of whole orders. */
function batches(planned: readonly Planned[]): Planned[][] {
  const groups: Planned[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const one of planned) {
    if (size + one.changes.length > changesPerBatch) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)?.push(one);
    size += one.changes.length;
  }
  return groups;
}
