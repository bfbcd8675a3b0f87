import {
  type Change,
  ChangeResourceRecordSetsCommand,
  ListResourceRecordSetsCommand,
  type ListResourceRecordSetsCommandInput,
  type ListResourceRecordSetsCommandOutput,
  type ResourceRecordSet,
  type Route53Client,
} from '@aws-sdk/client-route-53';

import { changesFor, namesOf, plainName, type Wish, type ZoneView } from './changes.ts';
import { isRefusedBatch, toDnsError } from './errors.ts';
import type { Order } from './zone-queue.ts';

/** Above this many names one walk through the zone costs less of the account's five calls a second than asking each. */
const askEachUpTo = 12;
/** Route 53 takes 1,000 values and 32,000 characters in a batch; a machine has about four, of 200 each. */
const changesPerBatch = 100;

interface Planned {
  readonly order: Order;
  readonly changes: readonly Change[];
}

/** Reads and writes of one hosted zone. */
export class Zone {
  readonly #client: Route53Client;
  readonly #id: string;

  constructor(client: Route53Client, id: string) {
    this.#client = client;
    this.#id = id;
  }

  /** Makes the wishes of each order true with as few calls as it takes; settles every order and throws nothing. */
  async carryOut(orders: readonly Order[]): Promise<void> {
    try {
      const view = await this.#read(orders.flatMap(({ wishes }) => wishes));
      const planned = orders.flatMap((order) => plan(order, view));
      for (const batch of batches(planned)) {
        // oxlint-disable-next-line no-await-in-loop -- a zone takes one change at a time
        await this.#write(batch);
      }
    } catch (error) {
      const known = toDnsError(error, `Reading zone ${this.#id}`);
      for (const { settle } of orders) settle(known);
    }
  }

  /** One change for all; when Route 53 refuses it, one change for each, so that only those at fault fail. */
  async #write(batch: readonly Planned[]): Promise<void> {
    try {
      await this.#change(batch.flatMap(({ changes }) => changes));
      for (const { order } of batch) order.settle(undefined);
    } catch (error) {
      const known = toDnsError(error, `Changing zone ${this.#id}`);
      const isTheirs = batch.length > 1 && isRefusedBatch(error);
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

  async #change(changes: readonly Change[]): Promise<void> {
    await this.#client.send(
      new ChangeResourceRecordSetsCommand({
        HostedZoneId: this.#id,
        ChangeBatch: { Changes: [...changes] },
      }),
    );
  }

  async #read(wishes: readonly Wish[]): Promise<ZoneView> {
    const names = [...new Set(wishes.flatMap(namesOf))];
    const sets =
      names.length > askEachUpTo
        ? await this.#everything()
        : (await Promise.all(names.map(async (name) => this.#at(name)))).flat();
    return Map.groupBy(sets, ({ Name = '' }) => plainName(Name));
  }

  /** Record sets are listed in order from a name on; those of one name are few. */
  async #at(name: string): Promise<ResourceRecordSet[]> {
    const { ResourceRecordSets = [] } = await this.#client.send(
      new ListResourceRecordSetsCommand({
        HostedZoneId: this.#id,
        StartRecordName: name,
        MaxItems: 10,
      }),
    );
    return ResourceRecordSets.filter(({ Name = '' }) => plainName(Name) === name);
  }

  async #everything(): Promise<ResourceRecordSet[]> {
    const all: ResourceRecordSet[] = [];
    let from: Partial<ListResourceRecordSetsCommandInput> | undefined = {};
    while (from) {
      // oxlint-disable-next-line no-await-in-loop -- each page says where the next one begins
      const page: ListResourceRecordSetsCommandOutput = await this.#client.send(
        new ListResourceRecordSetsCommand({ HostedZoneId: this.#id, MaxItems: 300, ...from }),
      );
      all.push(...(page.ResourceRecordSets ?? []));
      from = page.IsTruncated
        ? {
            StartRecordName: page.NextRecordName,
            StartRecordType: page.NextRecordType,
            StartRecordIdentifier: page.NextRecordIdentifier,
          }
        : undefined;
    }
    return all;
  }
}

/** What an order needs changed; an order that needs nothing, or cannot have it, is settled here. */
function plan(order: Order, view: ZoneView): Planned[] {
  try {
    const changes = order.wishes.flatMap((wish) => changesFor(wish, view));
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
