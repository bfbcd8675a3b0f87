import fc from 'fast-check';
import { beforeAll, describe, expect, test, vi } from 'vitest';

import { pods } from '#schemas/kubernetes/resource.ts';
import { finalizers } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks } from '../../testing/claim-world.ts';

/*
 * The process dies, or the claim is deleted, before or after any one call to the API server, the cloud, the zone, the
 * platform or the chart. Whatever the point: one machine comes of a claim, and nothing stays of it.
 */

vi.setConfig({ testTimeout: 60_000 }); // hundreds of lives in one test

/**
 * In a quick world many steps fall into one pass, in a slow one each has its own and is written down. In the third the
 * names are written by external-dns, which is asked by an object and takes its time with both ends of a machine.
 */
const paces = ['quick', 'slow', 'delegated'] as const;
type Pace = (typeof paces)[number];

interface Life {
  readonly points: readonly string[];
  /** How many of them lie before the claim is initialised. */
  readonly untilReady: number;
}

const lives = new Map<Pace, Life>();
let authority: ClaimWorld['authority'];

beforeAll(async () => {
  ({ authority } = await ClaimWorld.make());
  for (const pace of paces) {
    const world = await makeWorld(pace);
    await makeReady(world);
    const untilReady = world.wire.passed.length;
    await unmake(world);
    lives.set(pace, { points: world.wire.passed, untilReady });
  }
});

async function makeWorld(pace: Pace): Promise<ClaimWorld> {
  const world = await ClaimWorld.make(authority);
  world.pendPod('cart-0');
  const { cloud, dns, platform, kraftlets, clock } = world;
  cloud.lateBy = seconds(3);
  if (pace === 'delegated') world.delegateDns();
  if (pace !== 'slow') return world;
  dns.isSlow = true;
  platform.status = 'unknown';
  kraftlets.isPending = true;
  kraftlets.isNotReady = true;
  clock.after(seconds(8), () => (dns.isSlow = false));
  clock.after(seconds(12), () => (platform.status = 'healthy'));
  clock.after(seconds(16), () => (kraftlets.isPending = false));
  clock.after(seconds(20), () => (kraftlets.isNotReady = false));
  return world;
}

async function makeReady(world: ClaimWorld): Promise<void> {
  await world.claim();
  await world.initialized();
}

/** With a Pod on it, which has to leave first. */
async function unmake(world: ClaimWorld): Promise<void> {
  await world.until(() => isRunning(world));
  await world.delete();
  await world.gone();
}

function isRunning(world: ClaimWorld): boolean {
  const guest = world.client.peek(pods, { namespace: 'shop', name: 'cart-0' });
  return guest?.metadata.finalizers?.includes(finalizers.kraftletPod) ?? false;
}

/** A guest that ran was evicted, so that its budgets were heard, and is not left behind. */
function expectAsked(world: ClaimWorld): void {
  const evictions = world.client.calls.filter(({ subresource }) => subresource === 'eviction');
  const guest = world.client.peek(pods, { namespace: 'shop', name: 'cart-0' });
  const was = { bound: guest === undefined, asked: evictions.length > 0 };
  expect(was.asked).toBe(was.bound);
  expect(guest?.spec?.nodeName).toBeUndefined();
}

/**
 * Tells the story once for each point, and collects what went wrong where. The point before a call is left out: it
 * is the one after the call before, for nothing happens in between.
 */
async function atEach(
  { points, pace }: { points: readonly string[]; pace: Pace },
  story: (world: ClaimWorld, index: number) => Promise<void>,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const [index, point] of points.entries()) {
    if (index > 0 && point.endsWith(' before')) continue;
    const world = await makeWorld(pace);
    await story(world, index).catch((error: unknown) => {
      wrong.push(`${index} ${point}: ${String(error).slice(0, 400)}`);
    });
  }
  return wrong;
}

describe.each(paces)('in a %s world', (pace) => {
  const life = (): Life => lives.get(pace) ?? { points: [], untilReady: 0 };

  test('a life has many points to die at', () => {
    const { points, untilReady } = life();
    expect(untilReady).toBeGreaterThan(50);
    expect(points.length - untilReady).toBeGreaterThan(50);
    expect(points).toContain('cloud.launch after');
    expect(points).toContain('cloud.terminate before');
  });

  test('a process that dies leaves one machine to the next, and in the end nothing', async () => {
    const wrong = await atEach({ points: life().points, pace }, async (world, index) => {
      world.wire.crashAt(index);
      await makeReady(world);
      expect(world.cloud.made).toHaveLength(1);
      expect(world.nodes).toHaveLength(1);
      await unmake(world);
      expect(world.cloud.made).toHaveLength(1);
      expect(world.leaks()).toEqual(noLeaks);
    });
    expect(wrong).toEqual([]);
  });

  test.each([
    ['and the process lives on', false],
    ['and the process dies', true],
  ])('a claim that is deleted %s ends with nothing left', async (_, dies) => {
    const points = life().points.slice(0, life().untilReady);
    const wrong = await atEach({ points, pace }, async (world, index) => {
      world.wire.doAt(index, async () => world.delete(), dies);
      await world.claim();
      await world.gone();
      expectAsked(world);
      expect(world.cloud.made.length).toBeLessThanOrEqual(1);
      expect(world.leaks()).toEqual(noLeaks);
    });
    expect(wrong).toEqual([]);
  });

  test('an instance that dies ends its claim, and nothing is left', async () => {
    const points = life().points.slice(0, life().untilReady);
    const launched = points.indexOf('cloud.launch after');
    const wrong = await atEach({ points, pace }, async (world, index) => {
      if (index < launched) return;
      world.wire.doAt(index, () => world.cloud.made.forEach((one) => world.cloud.kill(one)));
      await world.claim();
      await world.until(
        () => !world.find() || world.condition('Initialized')?.status === 'True',
        seconds(1500),
      );
      if (world.find()) await world.delete(); // the collector's work, once the Node is there
      await world.gone();
      expect(world.leaks()).toEqual(noLeaks);
    });
    expect(wrong).toEqual([]);
  });
});

/** Several misfortunes at once, each of which stands alone above. */
const misfortunes = fc.record({
  pace: fc.constantFrom(...paces),
  crashes: fc.array(fc.integer({ min: 0, max: 150 }), { maxLength: 4 }),
  lost: fc.array(fc.constant('answer lost' as const), { maxLength: 2 }),
  full: fc.subarray(['m8i.large/eu-central-1a', 'm8i.large/eu-central-1b']),
  lateBy: fc.integer({ min: 0, max: 30 }),
  lateCaches: fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
  deleteAfter: fc.integer({ min: 0, max: 40 }),
});

test('however many of these come together, there is never a second machine, and nothing stays', async () => {
  const story = async (bad: typeof misfortunes extends fc.Arbitrary<infer T> ? T : never) => {
    const world = await makeWorld(bad.pace);
    world.wire.crashAt(...bad.crashes);
    world.cloud.launchFaults.push(...bad.lost);
    for (const place of bad.full) world.cloud.full.add(place);
    world.cloud.lateBy = seconds(bad.lateBy);
    await world.claim();
    for (let count = 0; count < bad.deleteAfter; count++) {
      const isLate = bad.lateCaches[count % bad.lateCaches.length];
      for (const cache of Object.values(world.caches)) {
        if (isLate) cache.fallBehind();
        else cache.catchUp();
      }
      await world.look();
      await world.clock.forward(seconds(1));
    }
    expect(world.cloud.made.length).toBeLessThanOrEqual(1);
    Object.values(world.caches).forEach((cache) => cache.catchUp());
    if (world.find()) await world.delete();
    await world.gone();
    expect(world.cloud.made.length).toBeLessThanOrEqual(1);
    expect(world.leaks()).toEqual(noLeaks);
  };
  await fc.assert(fc.asyncProperty(misfortunes, story), { numRuns: 200 });
});
