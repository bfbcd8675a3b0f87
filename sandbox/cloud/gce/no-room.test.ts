/** Claims on Compute Engine where there is no room: the next zone soon, none looked at twice, and a reason at the end. */
import { test as base, describe, expect } from 'vitest';

import { labels } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { ClaimsOnGce } from './testing/claims-on-gce.ts';
import { signal } from './testing/world.ts';

const test = base.extend<{ world: ClaimsOnGce }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => {
    const world = await ClaimsOnGce.open();
    await use(world);
    await world.stop();
  },
});

const [b, c, d] = ['europe-west1-b', 'europe-west1-c', 'europe-west1-d'];
const size = 'n2-standard-8';

/** Where an insert was asked for: `n2-standard-8 europe-west1-b`. */
const tries = (world: ClaimsOnGce): string[] =>
  world.gce.callsOf('instances.insert').map(({ parameters: { path, body } }) => {
    const { machineType } = body as { readonly machineType: string };
    return `${machineType.split('/').at(-1)} ${path['zone']}`;
  });
const isLaunched = (world: ClaimsOnGce, name: string): boolean =>
  world.claims.condition('Launched', name)?.status === 'True';
const launched = async (world: ClaimsOnGce, name: string): Promise<void> =>
  world.claims.until(() => isLaunched(world, name));
const zoneOf = (world: ClaimsOnGce, name: string): string | undefined =>
  world.claims.find(name)?.metadata.labels?.[labels.zone];
const offered = async (world: ClaimsOnGce, type: string): Promise<number | undefined> => {
  const sizes = await world.cloud.sizes(world.nodeClass, signal);
  return sizes.find((one) => one.type.name === type)?.offerings.filter((one) => one.available)
    .length;
};

describe('a zone without capacity', () => {
  test('costs one insert and some seconds, and the next zone is taken', async ({ world }) => {
    world.gce.instances.refuse({ zone: b });
    await world.claimFor(size);
    const begin = world.clock.now();
    await launched(world, 'web-1');
    // two operations of five seconds, each looked at every two
    expect(world.clock.now() - begin).toBeLessThan(seconds(30));
    expect(zoneOf(world, 'web-1')).toBe(c);
    expect(tries(world)).toEqual([`${size} ${b}`, `${size} ${c}`]);
  });

  test('is not tried by any claim before its time is over, and then once', async ({ world }) => {
    const toB = (): number => tries(world).filter((one) => one === `${size} ${b}`).length;
    world.gce.instances.refuse({ zone: b });
    await world.claimFor(size);
    await launched(world, 'web-1');
    const told = world.clock.now();
    for (const name of ['web-2', 'web-3', 'web-4']) {
      // oxlint-disable-next-line no-await-in-loop -- one claim after the other
      await world.claimFor(size, name);
      // oxlint-disable-next-line no-await-in-loop
      await launched(world, name);
    }
    expect(world.clock.now() - told).toBeLessThan(minutes(2));
    expect(toB()).toBe(1);

    await world.clock.forward(minutes(3));
    await world.claimFor(size, 'web-5');
    await launched(world, 'web-5');
    await world.claimFor(size, 'web-6');
    await launched(world, 'web-6');
    expect(toB()).toBe(2);
  });
});

test('where no zone has capacity the claim ends with that reason, the size is told to be sold out, and another pool’s size is launched', async ({
  world,
}) => {
  world.gce.instances.refuse({ type: size });
  await world.claimFor(size);
  await world.claims.gone();
  expect(tries(world)).toEqual([b, c, d].map((zone) => `${size} ${zone}`));
  expect(world.claims.notes).toContainEqual(
    expect.objectContaining({
      reason: 'InsufficientCapacityError',
      message: expect.stringMatching(/ZONE_RESOURCE_POOL_EXHAUSTED.*KPU310/) as string,
    }),
  );
  expect(world.gce.instances.all).toEqual([]);
  // what the planning reads before it chooses a pool
  expect(await offered(world, size)).toBe(0);
  expect(await offered(world, 'c3-standard-8')).toBe(3);

  await world.claimFor('c3-standard-8', 'web-2');
  await launched(world, 'web-2');
  expect(tries(world)).toHaveLength(4);
});
