import { beforeEach, expect, test } from 'vitest';

import type { RegionPrices } from '#schemas/instances/data/region-prices.ts';
import type { MachineType } from '#schemas/instances/instance-type.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { minutes } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { SizesOnSale } from './sizes-on-sale.ts';
import { UnavailableOfferings } from './unavailable-offerings.ts';

const [zone, zoneID] = ['eu-central-1a', 'euc1-az2'];
const large: MachineType = {
  name: 'm8i.large',
  family: 'm8i',
  vcpus: 2,
  memoryMiB: 8192,
  architecture: 'amd64',
  metal: false,
  nested: true,
};
const region = {
  name: 'eu-central-1',
  types: [large, { ...large, name: 'm8g.large', architecture: 'arm64' as const }],
  soldIn: new Map([[zone, new Set(['m8i.large', 'm8g.large'])]]),
  prices: { of: () => undefined } as unknown as RegionPrices,
};
const nodeClass = {
  nodeClass: 'default',
  image: { id: 'ami-1', architecture: 'amd64' },
  subnets: [{ id: 'subnet-1', zone, zoneID }],
} as unknown as ResolvedNodeClass;

let clock: FakeClock;
let unavailable: UnavailableOfferings;
let onSale: SizesOnSale;
beforeEach(() => {
  clock = new FakeClock();
  unavailable = new UnavailableOfferings(clock);
  onSale = new SizesOnSale(unavailable);
});

const isAvailable = () => onSale.of(region, nodeClass)[0]?.offerings[0]?.available;

test('the same question has the very same answer, also for another revision', () => {
  const first = onSale.of(region, nodeClass);
  expect(first.map(({ type }) => type.name)).toEqual(['m8i.large']);
  expect(onSale.of({ ...region }, { ...nodeClass, nodeClass: 'other' })).toBe(first);
});

test('a shortage is seen at once, and its end', async () => {
  expect(isAvailable()).toBe(true);
  const place = { region: region.name, instanceType: 'm8i.large', zone, subnet: 'subnet-1' };
  unavailable.mark('capacity', place, 'none left');
  expect(isAvailable()).toBe(false);
  await clock.forward(minutes(4));
  expect(isAvailable()).toBe(true);
});

test.each<[string, Partial<typeof region>, object]>([
  ['sizes', { types: [...region.types] }, {}],
  ['zones', { soldIn: new Map() }, {}],
  ['prices', { prices: { of: () => undefined } as unknown as RegionPrices }, {}],
  ['subnets', {}, { subnets: [] }],
  ['architecture', {}, { image: { id: 'ami-2', architecture: 'arm64' } }],
])('other %s have another answer', (_, ofRegion, ofClass) => {
  const first = onSale.of(region, nodeClass);
  expect(onSale.of({ ...region, ...ofRegion }, { ...nodeClass, ...ofClass })).not.toBe(first);
});
