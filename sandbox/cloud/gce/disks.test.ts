/** Disks on Compute Engine: what of them is seen, what goes, and what is believed of a part of a list. */
import { test as base, expect } from 'vitest';

import { ListIncomplete, MachineError } from '#machine/errors.ts';
import { seconds } from '#schemas/time/clock.ts';

import { fault } from '../wire/faults.ts';
import { failureOf, identityOf, signal, withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
});

const list = async ({ cloud, nodeClass }: World) =>
  cloud.parts.list(nodeClass, 'cluster-1', signal);

/** An instance that has ended, and left its disk. */
async function ended(world: World, name = 'web', cluster = 'cluster-1'): Promise<void> {
  const instance = await world.launched({}, identityOf(name, cluster));
  await world.clock.forward(seconds(10));
  for (const disk of world.gce.instances.disks.all) disk.autoDelete = false;
  await world.end(instance);
  await world.clock.forward(seconds(40));
}

test('what an instance has is shown as not free, and its delete is refused', async ({ world }) => {
  await world.launched();
  await world.clock.forward(seconds(10));
  const [disk, ...more] = await list(world);
  expect(disk).toMatchObject({ id: 'uk-web', claimUid: 'uid-of-web', isFree: false });
  expect(more).toEqual([]);
  const refused = await failureOf(world.cloud.parts.delete(world.nodeClass, disk!, signal));
  expect(refused.message).toContain('resourceInUseByAnotherResource');
  expect(await list(world)).toHaveLength(1);
});

test('T20: a disk that outlived its instance is free, and goes once', async ({ world }) => {
  await ended(world);
  const [disk] = await list(world);
  expect(disk).toMatchObject({ id: 'uk-web', state: 'READY', isFree: true });
  await world.cloud.parts.delete(world.nodeClass, disk!, signal);
  expect(await list(world)).toEqual([]);
  await world.cloud.parts.delete(world.nodeClass, disk!, signal); // gone already
});

test('T17: those of another cluster are not seen', async ({ world }) => {
  await ended(world, 'web', 'cluster-2');
  expect(await list(world)).toEqual([]);
});

test('T16: where a zone of the region cannot be reached there is no list at all', async ({
  world,
}) => {
  await ended(world);
  world.gce.instances.unreachable.add('europe-west1-d');
  const failed = await failureOf(list(world));
  expect(failed).toBeInstanceOf(ListIncomplete);
  expect(failed.message).toContain('europe-west1-d');
  world.gce.instances.unreachable.clear();
  expect(await list(world)).toHaveLength(1);
});

test('a list that fails on its second page is no list', async ({ world }) => {
  await ended(world);
  const { disks } = world.gce.instances;
  const { labels } = disks.all[0]!;
  for (let index = 0; index < 600; index++) {
    const own = {
      zone: 'europe-west1-b',
      name: `uk-${index}`,
      disks: [{ autoDelete: false, labels }],
    };
    disks.add(own);
    disks.release(own.zone, own.name);
  }
  expect(await list(world)).toHaveLength(601);
  const isSecond = ({ query }: { query: URLSearchParams }): boolean => query.has('pageToken');
  const away = fault({ code: 'backendError', status: 503, when: isSecond });
  world.gce.faults.next('disks.aggregatedList', away);
  expect(await failureOf(list(world))).toBeInstanceOf(MachineError);
});
