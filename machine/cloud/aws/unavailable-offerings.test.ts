import { beforeEach, expect, test } from 'vitest';

import { minutes } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { quotaFamily, UnavailableOfferings } from './unavailable-offerings.ts';

let clock: FakeClock;
let offerings: UnavailableOfferings;
const place = {
  region: 'eu-central-1',
  instanceType: 'm8i.large',
  zone: 'eu-central-1a',
  subnet: 'subnet-a',
};

beforeEach(() => {
  clock = new FakeClock();
  offerings = new UnavailableOfferings(clock);
});

test('no capacity means this size in this zone, for three minutes', async () => {
  offerings.mark('capacity', place, 'no hosts');

  expect(offerings.isAvailable(place)).toBe(false);
  expect(offerings.isAvailable({ ...place, zone: 'eu-central-1b' })).toBe(true);
  expect(offerings.isAvailable({ ...place, instanceType: 'm8i.xlarge' })).toBe(true);
  await clock.forward(minutes(3));
  expect(offerings.isAvailable(place)).toBe(true);
});

test('a failure elsewhere does not make an entry last longer', async () => {
  offerings.mark('capacity', place, 'no hosts');
  await clock.forward(minutes(2));
  offerings.mark('capacity', { ...place, zone: 'eu-central-1b' }, 'no hosts');
  await clock.forward(minutes(1));

  expect(offerings.isAvailable(place)).toBe(true);
  expect(offerings.list().map(({ what }) => what)).toEqual(['m8i.large in eu-central-1b']);
});

test('a quota stops all sizes that share it, in the region', () => {
  offerings.mark('quota', place, 'limit exceeded');

  expect(offerings.isAvailable({ ...place, instanceType: 'c7i.large' })).toBe(false);
  expect(offerings.isAvailable({ ...place, instanceType: 'x8i.large' })).toBe(true);
  expect(offerings.isAvailable({ ...place, region: 'us-east-1', zone: 'us-east-1a' })).toBe(true);
});

test('a full subnet says nothing about the size', () => {
  offerings.mark('subnet', place, 'no addresses');

  expect(offerings.isAvailable(place)).toBe(true);
  expect(offerings.hasAddresses('subnet-a')).toBe(false);
  expect(offerings.hasAddresses('subnet-b')).toBe(true);
});

test('what is not sold there is not asked for again soon', async () => {
  offerings.mark('unsupported', place, 'not supported');
  await clock.forward(minutes(29));

  expect(offerings.isAvailable(place)).toBe(false);
});

test('refusals of launches that were under way together add nothing, and shorten nothing', async () => {
  for (let refusal = 0; refusal < 8; refusal += 1) offerings.mark('capacity', place, 'no hosts');
  await clock.forward(minutes(3));
  expect(offerings.isAvailable(place)).toBe(true);

  offerings.mark('unsupported', place, 'not supported');
  offerings.mark('capacity', place, 'no hosts');
  await clock.forward(minutes(29));
  expect(offerings.isAvailable(place)).toBe(false);
});

test('the sequence rises with every change, also with those that time makes', async () => {
  const before = offerings.sequence;
  offerings.mark('capacity', place, 'no hosts');
  const marked = offerings.sequence;
  await clock.forward(minutes(3));

  expect(marked).toBeGreaterThan(before);
  expect(offerings.sequence).toBeGreaterThan(marked);
});

test.each([
  ['m8i.large', 'standard'],
  ['i7ie.metal-24xl', 'standard'],
  ['x8i.large', 'x'],
  ['inf2.xlarge', 'inf'],
  ['hpc7a.96xlarge', 'hpc'],
])('%s counts against the quota %s', (type, family) => {
  expect(quotaFamily(type)).toBe(family);
});
