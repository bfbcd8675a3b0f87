/** More calls than a project may make in a minute. */
import { test as base, describe, expect } from 'vitest';

import { LaunchUnderWay, MachineError, Throttled } from '#machine/errors.ts';
import type { Instance } from '#machine/machine.ts';
import { milliseconds, minutes, seconds } from '#schemas/time/clock.ts';

import { fault, overMinute, overRate, unheard } from '../wire/faults.ts';
import { failureOf, identityOf, withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
});

/** As the chain does: a launch that is under way, or was throttled, is looked for after two seconds, and then repeated. */
async function launchInTheEnd(world: World, name: string, isRepeated = false): Promise<Instance> {
  try {
    const found = isRepeated ? await world.find(identityOf(name)) : [];
    return found[0] ?? (await world.launch({}, identityOf(name)));
  } catch (error) {
    if (!(error instanceof LaunchUnderWay || error instanceof Throttled)) throw error;
    await world.clock.sleep(seconds(2));
    return launchInTheEnd(world, name, true);
  }
}

/** Moves the clock while calls are under way, which take real time. */
async function settled<T>(world: World, work: Promise<T>): Promise<T> {
  let isDone = false;
  const end = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    // oxlint-disable-next-line no-await-in-loop -- answers come in real time between two moments
    await new Promise((resolve) => setTimeout(resolve, 2));
    // oxlint-disable-next-line no-await-in-loop
    await world.clock.forward(milliseconds(50));
  }
  return end;
}

describe.each(['gce', 'gce429'] as const)('T7: a rate that is refused as %s', (as) => {
  test('says nothing of room, and is told as what it is', async ({ world }) => {
    const none = { perSecond: 0, burst: 0 };
    world.gce.faults.next('instances.insert', overRate(world.clock, none, as));
    expect(await failureOf(world.launch())).toMatchObject({ code: 'KPU313', next: 'retry' });
    const [size] = await world.cloud.sizes(world.nodeClass, new AbortController().signal);
    expect(size?.offerings.every(({ available }) => available)).toBe(true);
  });

  test('holds up no delete, though launches wait', async ({ world }) => {
    const instance = await world.launched();
    const none = { perSecond: 0, burst: 0 };
    world.gce.faults.next('instances.insert', overRate(world.clock, none, as));
    await failureOf(world.launch({}, identityOf('other')));
    await world.end(instance); // at once: the clock stands still
    expect(world.gce.instances.all).toMatchObject([{ status: 'STOPPING' }]);
  });
});

test('T7: 100 launches at a rate of 20 calls a second of each kind all succeed, at six calls each at most', async ({
  world,
}) => {
  world.gce.calls.length = 0;
  for (const method of ['instances.insert', 'zoneOperations.get', 'instances.get'])
    world.gce.faults.next(method, overRate(world.clock, { perSecond: 20, burst: 20 }, 'gce'));
  const names = Array.from({ length: 100 }, (_, index) => `web-${index}`);

  const made = await settled(
    world,
    Promise.all(names.map(async (name) => launchInTheEnd(world, name))),
  );

  expect(new Set(made.map(({ id }) => id)).size).toBe(100);
  expect(world.gce.instances.made).toBe(100);
  expect(world.gce.calls.length / 100).toBeLessThanOrEqual(6);
});

test('T7: inserts beyond the quota of a minute wait for the next one, and few are refused meanwhile', async ({
  world,
}) => {
  world.gce.faults.next('instances.insert', overMinute(world.clock, 20));
  const names = Array.from({ length: 50 }, (_, index) => `web-${index}`);
  const begin = world.clock.now();
  await settled(world, Promise.all(names.map(async (name) => launchInTheEnd(world, name))));
  expect(world.gce.instances.made).toBe(50);
  expect(world.clock.now() - begin).toBeLessThan(minutes(4));
  const calls = world.gce.callsOf('instances.insert').length;
  // thirty together before the first refusal is known, then a few in each minute
  expect(calls - 50).toBeLessThan(30 + 25);
});

test('T7: what was refused for its rate is not looked for by name, what was never answered is', async ({
  world,
}) => {
  world.gce.faults.next('instances.insert', fault({ code: 'rateLimitExceeded', status: 429 }));
  expect(await failureOf(world.launch())).toBeInstanceOf(Throttled);
  expect(await world.find()).toEqual([]);
  expect(world.gce.callsOf('instances.get')).toEqual([]);

  world.gce.faults.next('instances.insert', unheard());
  await settled(world, failureOf(world.launch()));
  expect(await world.find()).toEqual([]);
  expect(world.gce.callsOf('instances.get')).not.toEqual([]);
});

test('T7: a turn that is far away is refused without a call, and the process stays free', async ({
  world,
}) => {
  const none = { perSecond: 0, burst: 0 };
  world.gce.faults.next('instances.insert', overRate(world.clock, none, 'gce'));
  await failureOf(world.launch());
  const calls = (): number => world.gce.callsOf('instances.insert').length;
  const before = calls();
  const waiting = Array.from({ length: 150 }, async (_, at) =>
    world.launch({}, identityOf(`web-${at}`)).catch((error: unknown) => error),
  );
  const refused = await settled(world, Promise.all(waiting));
  expect(refused.every((error) => error instanceof MachineError && error.code === 'KPU313')).toBe(
    true,
  );
  expect(calls() - before).toBeLessThan(110);
});
