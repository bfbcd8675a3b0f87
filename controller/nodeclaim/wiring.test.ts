import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Throttled, Unauthorized } from '#machine/errors.ts';
import { nodes, secrets, statefulSets } from '#schemas/kubernetes/resource.ts';
import { minutes, seconds, type Duration } from '#schemas/time/clock.ts';

import { claimControllers } from '../testing/claim-controllers.ts';
import { ClaimWorld, noLeaks } from '../testing/claim-world.ts';
import { refusal } from '../testing/refusals.ts';

/** With its own queue and watches: nobody calls reconcile here, so one that is missing shows, and so does one too many. */
let world: ClaimWorld;
let stop: AbortController;
let running: Promise<unknown>;

beforeEach(async () => {
  world = await ClaimWorld.make();
  stop = new AbortController();
  const controllers = claimControllers(world);
  running = Promise.all(controllers.map(async (each) => each.run(stop.signal)));
});

afterEach(async () => {
  stop.abort();
  await running;
});

/** Kubernetes and Kraftlet act once a second. */
async function pass(duration: Duration): Promise<void> {
  for (const end = world.clock.now() + duration; world.clock.now() < end;) {
    await world.kraftlets.act();
    await world.clock.forward(seconds(1));
  }
}

/** Keys are made in real time, whatever the clock says. */
async function claim(): Promise<void> {
  await world.claim();
  await vi.waitFor(() => {
    const made = world.client.all(secrets).some(({ metadata }) => metadata.labels);
    expect(made).toBe(true);
  });
}

const isReady = (): boolean => world.condition('Ready')?.status === 'True';

test('a claim becomes a Node within seconds, and goes within seconds, by its own watches', async () => {
  await claim();
  await pass(seconds(8));
  expect(isReady()).toBe(true);
  await world.delete();
  await pass(seconds(10));
  expect(world.leaks()).toEqual(noLeaks);
});

test('a machine at rest is neither written to nor asked after, but for the list that all share', async () => {
  await claim();
  await pass(seconds(10));
  const { length } = world.client.calls;
  await pass(minutes(5));
  expect(world.client.calls.slice(length)).toEqual([]);
});

test('a cloud that asks to slow down is asked ever more seldom', async () => {
  world.cloud.launchFaults.push(...Array.from({ length: 500 }, () => new Throttled('slower')));
  await claim();
  await pass(minutes(4));
  expect(world.cloud.launches.length).toBeLessThan(25);
  world.cloud.launchFaults.length = 0;
  await pass(minutes(1) + seconds(10));
  expect(isReady() || world.find() === undefined).toBe(true);
});

test('what a look at a claim writes to its status calls for no other look', async () => {
  world.cloud.launchFaults.push(...Array.from({ length: 500 }, () => new Unauthorized('no')));
  await claim();
  await pass(seconds(50));
  expect(world.condition('Launched')?.reason).toBe('Unauthorized');
  expect(world.cloud.launches).toHaveLength(1);
});

test('a Pod under a budget is asked once a second, no more', async () => {
  await claim();
  await pass(seconds(10));
  world.bindPod('cart-0');
  await pass(seconds(2));
  const evictions = () =>
    world.client.calls.filter(({ subresource }) => subresource === 'eviction');
  world.client.fail(
    ({ subresource }) => subresource === 'eviction',
    refusal(429, 'TooManyRequests', 'not now'),
    10_000,
  );
  await world.delete();
  await pass(seconds(60));
  expect(evictions().length).toBeGreaterThan(30);
  expect(evictions().length).toBeLessThan(70);
});

test('a machine that ends is found out by the collection, and its Node goes', async () => {
  await claim();
  await pass(minutes(2));
  const [instance] = world.cloud.made;
  if (instance) world.cloud.kill(instance);
  await pass(seconds(40));
  expect(world.client.all(nodes)).toEqual([]);
  expect(world.leaks()).toEqual(noLeaks);
});

test('a Node wakes its claim before the cache knows which provider id that has', async () => {
  await claim();
  world.caches.nodeClaims.fallBehind();
  await pass(seconds(15));
  expect(world.nodes[0]?.metadata.finalizers).toBeDefined();
  world.caches.nodeClaims.catchUp();
  expect(isReady()).toBe(true);
});

test('a Node that is deleted by hand wakes its claim', async () => {
  await claim();
  await pass(seconds(10));
  await world.client.delete(nodes, { name: world.nodes[0]?.metadata.name ?? '' });
  await pass(seconds(10));
  expect(world.leaks()).toEqual(noLeaks);
});

test('a Kraftlet StatefulSet that is deleted by hand wakes its claim, and comes back', async () => {
  await claim();
  await pass(seconds(10));
  const [set] = world.client.all(statefulSets);
  if (set) world.client.remove(statefulSets, set.metadata);
  await pass(seconds(3));
  expect(world.client.all(statefulSets)).toMatchObject([{ status: { readyReplicas: 1 } }]);
  expect(isReady()).toBe(true);
});
