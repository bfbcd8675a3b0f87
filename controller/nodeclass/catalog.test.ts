import { beforeEach, expect, test } from 'vitest';

import type { SizeOnSale } from '#machine/cloud/provider.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';

import { acmeOf } from '../testing/certificates.ts';
import { memoryContext } from '../testing/context.ts';
import { FakeClouds } from '../testing/fake-clouds.ts';
import { nodeClass } from '../testing/objects.ts';
import { CloudCatalog } from './catalog.ts';
import { NodeClassController } from './controller.ts';
import { Revisions } from './revisions.ts';

let world: ReturnType<typeof memoryContext>;
let clouds: FakeClouds;
let catalog: CloudCatalog;
const { signal } = new AbortController();

beforeEach(async () => {
  world = memoryContext();
  clouds = new FakeClouds();
  catalog = new CloudCatalog(world.context, new Revisions(world.context), clouds);
  await world.client.create(unikraftNodeClasses, nodeClass());
  const controller = new NodeClassController(world.context, {
    clouds,
    releases: clouds.releases,
    acme: acmeOf(world.context),
  });
  await controller.reconcile('default', signal);
});

interface Sale {
  price?: number;
  available?: boolean;
  vcpus?: number;
}

function size(name: string, { price, available = true, vcpus = 8 }: Sale = {}): SizeOnSale {
  const type = {
    name,
    family: 'm8i',
    vcpus,
    memoryMiB: vcpus * 4096,
    architecture: 'amd64' as const,
    metal: false,
    nested: true,
  };
  const place = { zone: 'eu-central-1a', zoneID: 'euc1-az2' };
  return { type, offerings: [{ ...place, price, priceDerived: false, available }] };
}

const offer = async () => catalog.offer('default', signal);
const names = async () => (await offer())?.instanceTypes.map(({ name }) => name);

test('sizes come as the class makes them, with capacity less overhead', async () => {
  clouds.sizes = [size('m8i.2xlarge', { price: 0.5 })];
  const [type] = (await offer())?.instanceTypes ?? [];
  expect(type?.capacity).toEqual({ cpu: '6', memory: '28672Mi', pods: '1000' });
  expect(type?.labels).toMatchObject({ 'node.kubernetes.io/instance-type': 'm8i.2xlarge' });
});

test('T25: the cheapest that can be had comes first; unknown prices and empty shelves last', async () => {
  clouds.sizes = [
    size('no-price'),
    size('gone-cheap', { price: 0.1, available: false }),
    size('dear', { price: 2 }),
    size('cheap', { price: 1 }),
    size('gone-no-price', { available: false }),
    size('also-no-price'),
  ];
  expect(await names()).toEqual([
    'cheap',
    'dear',
    'also-no-price',
    'no-price',
    'gone-cheap',
    'gone-no-price',
  ]);
});

test('a size that the platform itself would fill is left out', async () => {
  clouds.sizes = [size('tiny', { vcpus: 2 }), size('small', { vcpus: 4 })];
  expect(await names()).toEqual(['small']);
});

test('what a platform turned out to advertise beats the arithmetic, for its revision and size alone', async () => {
  clouds.sizes = [size('a', { price: 1 }), size('b', { price: 2 })];
  const revision = (await offer())?.revision ?? '';
  const live = world.client.peek(unikraftNodeClasses, { name: 'default' });
  const learned = { instanceType: 'a', vcpus: 5, memoryMiB: 100, instances: 7 };
  const capacityCorrections = [
    { ...learned, revision },
    { ...learned, instanceType: 'b', revision: 'another' },
  ];
  world.client.seed(unikraftNodeClasses, {
    ...live,
    spec: nodeClass().spec,
    status: { ...live?.status, capacityCorrections },
  });
  const capacities = (await offer())?.instanceTypes.map(({ capacity }) => capacity);
  expect(capacities).toEqual([
    { cpu: '5', memory: '100Mi', pods: '7' },
    { cpu: '6', memory: '28672Mi', pods: '1000' },
  ]);
});

test('the same answer is the same array, until availability changes', async () => {
  clouds.sizes = [size('a', { price: 1 })];
  const first = (await offer())?.instanceTypes;
  clouds.sizes = [size('a', { price: 1 })];
  expect((await offer())?.instanceTypes).toBe(first);
  clouds.sizes = [size('a', { price: 1, available: false })];
  expect((await offer())?.instanceTypes).not.toBe(first);
});

test('a class that is unknown, or leaving, offers nothing', async () => {
  expect(await catalog.offer('other', signal)).toBeUndefined();
  await world.client.delete(unikraftNodeClasses, { name: 'default' });
  expect(await offer()).toBeUndefined();
});
