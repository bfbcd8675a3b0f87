import { beforeEach, expect, test } from 'vitest';

import { milliseconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import type { Wish } from './changes.ts';
import { type Order, ZoneQueue } from './zone-queue.ts';

let clock: FakeClock;
/** Batches that were begun, and how each is ended. */
let batches: { readonly orders: readonly Order[]; readonly end: () => void }[];
let queue: ZoneQueue;

beforeEach(() => {
  clock = new FakeClock();
  batches = [];
  queue = new ZoneQueue(clock, async (orders) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    batches.push({ orders, end: resolve });
    await promise;
    for (const { settle } of orders) settle(undefined);
  });
});

const wish = (name: string): Wish => ({
  name,
  record: undefined,
  owner: { clusterUid: 'c', claimUid: name },
});
const add = async (name: string) => queue.add({ wishes: [wish(name)], texts: [] });
const namesIn = (orders: readonly Order[] = []) =>
  orders.flatMap(({ wishes }) => wishes.map(({ name }) => name));

test('orders of 200 ms share a batch; what comes during it shares the next, and no two run at once', async () => {
  const first = [add('a'), add('b')];
  await clock.forward(milliseconds(200));
  const second = [add('c'), add('d')];
  await clock.forward(milliseconds(1000));
  expect(batches.map(({ orders }) => namesIn(orders))).toEqual([['a', 'b']]);

  batches[0]?.end();
  await Promise.all(first);
  await clock.forward(milliseconds(200));
  expect(namesIn(batches[1]?.orders)).toEqual(['c', 'd']);
  batches[1]?.end();
  await Promise.all(second);
});

test('a batch that breaks fails its own orders, and the queue goes on', async () => {
  let isBroken = true;
  queue = new ZoneQueue(clock, async (orders) => {
    if (isBroken) throw new Error('broken');
    for (const { settle } of orders) settle(undefined);
  });

  const failing = add('a');
  failing.catch(() => {}); // looked at below
  await clock.forward(milliseconds(200));
  await expect(failing).rejects.toThrow('broken');
  isBroken = false;
  const next = add('b');
  await clock.forward(milliseconds(200));
  await expect(next).resolves.toBeUndefined();
});
