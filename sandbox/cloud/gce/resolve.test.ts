/** What a node class selects in its project, and what is sold to it. */
import { test as base, describe, expect } from 'vitest';

import { ListIncomplete, NodeClassError, OutcomeUnknown } from '#machine/errors.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { minutes } from '#schemas/time/clock.ts';

import { fault } from '../wire/faults.ts';
import type { GceCall } from './gce.ts';
import { signal, withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
});

const imagePath = (name: string): string => `projects/unikraft-images/global/images/${name}`;
const troubleOf = async (promise: Promise<unknown>): Promise<NodeClassError> =>
  promise.then(
    () => expect.fail('it succeeded'),
    (error: NodeClassError) => error,
  );
type Images = UnikraftNodeClassSpec['image'];

describe('the placement', () => {
  test('is the subnetwork in each zone of the region, or in those that are named', async ({
    world,
  }) => {
    const id = 'projects/sandbox-project/regions/europe-west1/subnetworks/machines';
    const zones = ['europe-west1-b', 'europe-west1-c', 'europe-west1-d'];
    expect(world.nodeClass.subnets).toEqual(zones.map((zone) => ({ id, zone, zoneID: zone })));
    const some = await world.resolve({ zones: ['europe-west1-d', 'europe-west1-b'] });
    expect(some.subnets.map(({ zone }) => zone)).toEqual(['europe-west1-b', 'europe-west1-d']);
    expect(await world.resolve({ subnetwork: id })).toMatchObject({ subnets: [{ id }, {}, {}] });
  });

  test.for([
    [{ region: 'mars-west1' }, 'PlacementRefused', 'has no zone at all'],
    [{ zones: ['europe-west1-b', 'europe-west1-z'] }, 'PlacementRefused', 'zone europe-west1-z'],
    [{ subnetwork: 'other' }, 'SubnetsNotFound', 'subnetworks/other'],
    [{ network: 'production' }, 'SeveralNetworks', 'of network default, not production'],
    [{ subnetwork: 'projects/h/regions/us-east1/subnetworks/s' }, 'PlacementRefused', 'us-east1'],
  ] as const)(
    'that cannot be is said with the way out: %j',
    async ([gcp, reason, words], { world }) => {
      const error = await troubleOf(world.resolve(gcp as Parameters<World['resolve']>[0]));
      expect(error).toBeInstanceOf(NodeClassError);
      expect(error).toMatchObject({ condition: 'PlacementReady', reason });
      expect(error.message).toContain(words);
    },
  );

  test('that may not be looked at is a matter of credentials', async ({ world }) => {
    world.gce.faults.next('zones.list', fault({ code: 'forbidden', status: 403 }));
    expect(await troubleOf(world.resolve())).toMatchObject({ condition: 'CredentialsReady' });
    world.gce.faults.next('zones.list', fault({ code: 'backendError', status: 503 }));
    expect(await troubleOf(world.resolve())).toBeInstanceOf(OutcomeUnknown);
  });
});

describe('the image', () => {
  const family = (name: string): Images => ({
    selectorTerms: [{ family: name, owner: 'unikraft-images' }],
  });

  test.for<[string, Images]>([
    [
      'name with a star',
      { selectorTerms: [{ name: 'unikraft-platform-*', owner: 'unikraft-images' }] },
    ],
    ['family', family('unikraft-platform')],
    ['path', { id: imagePath('unikraft-platform-1') }],
    ['path of a family', { id: imagePath('family/unikraft-platform') }],
    [
      'any of several terms',
      { selectorTerms: [{ name: 'x' }, ...(family('unikraft-platform').selectorTerms ?? [])] },
    ],
  ])('is found by %s and kept by its path', async ([, image], { world }) => {
    const found = await world.resolve({}, { image });
    expect(found.image).toEqual({
      id: imagePath('unikraft-platform-1'),
      name: 'unikraft-platform-1',
      architecture: 'amd64',
      rootDeviceName: 'boot',
    });
  });

  test('is the newest that fits, by the moment and not by its spelling', async ({ world }) => {
    const [first] = world.gce.project.images;
    const of = (name: string, created: string) => ({ ...first!, name, created });
    world.gce.project.images.push(
      of('unikraft-platform-2', '2026-10-01T02:00:00.000-07:00'),
      of('unikraft-platform-3', '2026-10-01T08:30:00.000+00:00'), // before the second by half an hour
    );
    expect((await world.resolve()).image.name).toBe('unikraft-platform-2');
  });

  test('is selected by labels too', async ({ world }) => {
    const [first] = world.gce.project.images;
    world.gce.project.images.push({ ...first!, name: 'labelled', labels: { release: 'stable' } });
    for (const value of ['stable', '*']) {
      const image = { selectorTerms: [{ tags: { release: value }, owner: 'unikraft-images' }] };
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await world.resolve({}, { image })).image.name).toBe('labelled');
    }
  });

  test.for<[Images, string]>([
    [{ id: imagePath('gone') }, 'ImageNotFound'],
    [family('gone'), 'ImageNotFound'],
    [{ selectorTerms: [{ name: 'unikraft-platform-*' }] }, 'ImageNotFound'], // in the own project
    [
      { selectorTerms: [{ name: 'unikraft-*', owner: 'unikraft-images' }] },
      'ImageArchitectureAmbiguous',
    ],
  ])('that cannot be used is told: %j', async ([image, reason], { world }) => {
    expect(await troubleOf(world.resolve({}, { image }))).toMatchObject({ reason });
  });
});

describe('sizes', () => {
  test('are those that can run guests of the image, with prices', async ({ world }) => {
    const sizes = await world.cloud.sizes(world.nodeClass, signal);
    const names = sizes.map(({ type }) => type.name);
    expect(names).toEqual(
      expect.arrayContaining(['n2-standard-4', 'c3-highcpu-192-metal', 'n1-standard-8']),
    );
    expect(names.filter((name) => /^(e2|n2d|t2a|f1)-/.test(name))).toEqual([]);
    const size = sizes.find(({ type }) => type.name === 'n2-standard-4');
    expect(size).toMatchObject({
      type: { family: 'n2', vcpus: 4, memoryMiB: 16_384, metal: false, nested: true },
      offerings: [{ zone: 'europe-west1-b', available: true, priceDerived: false }, {}, {}],
    });
    expect(size?.offerings[0]?.price).toBeCloseTo(0.2138, 3); // table of 2026-08-03
    const metal = sizes.find(({ type }) => type.metal);
    expect(metal?.type).toMatchObject({ metal: true, nested: false });
  });

  test('are not offered where they are not sold', async ({ world }) => {
    world.gce.project.notSold.set('europe-west1-c', new Set(['n2-standard-4']));
    const sizes = await world.cloud.sizes(world.nodeClass, signal);
    const { offerings = [] } = sizes.find(({ type }) => type.name === 'n2-standard-4') ?? {};
    expect(offerings.map(({ zone }) => zone)).toEqual(['europe-west1-b', 'europe-west1-d']);
  });

  test('that need other disks than the class has are left out', async ({ world }) => {
    const families = async (type: 'pd-ssd' | 'hyperdisk-balanced'): Promise<Set<string>> => {
      const nodeClass = await world.resolve({ disks: [{ size: '20Gi', type }] });
      const sizes = await world.cloud.sizes(nodeClass, signal);
      return new Set(sizes.map((size) => size.type.family));
    };
    expect(await families('pd-ssd')).not.toContain('n4');
    expect(await families('hyperdisk-balanced')).toContain('n4');
  });

  test('T32: stay known while the cloud cannot say', async ({ world }) => {
    const before = await world.cloud.sizes(world.nodeClass, signal);
    const away = fault<GceCall>({ code: 'backendError', status: 503, times: Infinity });
    const back = world.gce.faults.next('machineTypes.list', away);
    await world.clock.forward(minutes(6));
    expect(await world.cloud.sizes(world.nodeClass, signal)).toEqual(before);
    world.restart();
    await expect(world.cloud.sizes(world.nodeClass, signal)).rejects.toBeInstanceOf(OutcomeUnknown);
    back();
    expect(await world.cloud.sizes(world.nodeClass, signal)).toEqual(before);
  });

  test('T32: stay known while a zone lists none at all', async ({ world }) => {
    const before = await world.cloud.sizes(world.nodeClass, signal);
    const all = new Set(world.gce.project.sizes.map(({ name }) => name));
    world.gce.project.notSold.set('europe-west1-c', all);
    await world.clock.forward(minutes(6));
    expect(await world.cloud.sizes(world.nodeClass, signal)).toEqual(before);
    world.restart();
    await expect(world.cloud.sizes(world.nodeClass, signal)).rejects.toBeInstanceOf(ListIncomplete);
  });
});
