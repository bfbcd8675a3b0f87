/** A project with two regions: one list has all of it, of which a class sees its own region. */
import { test as base, expect } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { failureOf, identityOf, withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
});

test('a class has the zones and the subnetwork of its own region', async ({ world }) => {
  const { subnets } = await world.resolve({ region: 'europe-west4' });
  expect(subnets.map(({ zone }) => zone)).toEqual(
    ['a', 'b', 'c'].map((one) => `europe-west4-${one}`),
  );
  expect(new Set(subnets.map(({ id }) => id))).toEqual(
    new Set(['projects/sandbox-project/regions/europe-west4/subnetworks/machines']),
  );
  const error = await failureOf(
    world.resolve({ region: 'europe-west4', zones: ['europe-west1-b'] }),
  );
  expect(error.message).toContain('has no zone europe-west1-b');
});

test('machines of a class that moved are seen and ended where they are', async ({ world }) => {
  await world.launched();
  const before = world.nodeClass;
  world.nodeClass = await world.resolve({ region: 'europe-west4' });
  await world.launched({}, identityOf('moved'));
  const zones = world.gce.instances.all.map(({ launch }) => launch.zone);
  expect(zones).toEqual(['europe-west1-b', 'europe-west4-a']);

  const seen = async () => (await world.snapshot()).map(({ id }) => id);
  expect(await seen()).toEqual(['uk-moved']);
  world.nodeClass = before;
  expect(await seen()).toEqual(['uk-web']);

  const [old] = await world.find();
  await world.end(old!);
  await world.clock.forward(seconds(30));
  expect(world.gce.instances.all.map(({ launch }) => launch.name)).toEqual(['uk-moved']);
});

test('an instance cannot be in a subnetwork of another region', async ({ world }) => {
  const subnet = 'projects/sandbox-project/regions/europe-west4/subnetworks/machines';
  const error = await failureOf(world.launch({ subnet }));
  expect(error.message).toContain('is not in the region of europe-west1-b');
  expect(world.gce.instances.made).toBe(0);
});
