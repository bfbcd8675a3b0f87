import { describe, expect, test } from 'vitest';

import { cloudNames } from '../cloud.ts';
import { RegionPrices, median } from './region-prices.ts';
import { factFile, factFileWithout } from './testing/files.ts';

const aws = factFile('aws');

test('what was said beats what was recorded', () => {
  const prices = new RegionPrices(aws, 'us-east-1', new Map([['m7i.xlarge', 0.15]]));
  expect(prices.of('m7i.xlarge')).toEqual({ perHour: 0.15, basis: 'override' });
  expect(prices.of('m7i.large')).toMatchObject({ perHour: 0.1008, basis: 'table' });
});

test('a size that a region has no price for takes the reference’s, as dear as the region is', () => {
  const there = new RegionPrices(aws, 'us-east-1').of('r8id.large');
  const here = new RegionPrices(aws, 'eu-north-1').of('r8id.large');
  expect(here).toMatchObject({ basis: 'scaled', asOf: there?.asOf });
  expect(here?.perHour).toBeCloseTo((there?.perHour ?? 0) * 1.0635, 6);
});

test('one discount does not make the whole region cheaper', () => {
  const prices = new RegionPrices(aws, 'eu-north-1', new Map([['m7i.xlarge', 0.01]]));
  expect(prices.of('r8id.large')).toEqual(new RegionPrices(aws, 'eu-north-1').of('r8id.large'));
});

describe('a region of which nothing is recorded', () => {
  test('is as dear as its neighbours are in the middle', () => {
    const { factors } = aws.header;
    const neighbours = Object.keys(factors).filter((name) => name.startsWith('eu-'));
    const scale = median(neighbours.map((name) => factors[name] ?? 0)) ?? 0;
    expect(scale).toBeGreaterThan(1.1);
    expect(new RegionPrices(aws, 'eu-west-3').of('m7i.xlarge')).toEqual({
      perHour: expect.closeTo(0.2016 * scale, 6) as number,
      basis: 'scaled',
      asOf: '2026-07-20',
    });
  });

  test('is as dear as all are in the middle where it has no neighbours', () => {
    const scale = median(Object.values(aws.header.factors)) ?? 0;
    const price = new RegionPrices(aws, 'il-central-1').of('m7i.xlarge');
    expect(price?.perHour).toBeCloseTo(0.2016 * scale, 6);
  });

  test('is as dear as the prices that were set for it say', () => {
    const set = new Map([
      ['m7i.xlarge', 0.2016 * 1.3],
      ['c7i.large', 0.08925 * 1.3],
      ['brand-new.large', 1],
    ]);
    const prices = new RegionPrices(aws, 'eu-west-3', set);
    expect(prices.of('c5.metal')?.perHour).toBeCloseTo(4.08 * 1.3, 6);
    expect(prices.of('brand-new.large')).toEqual({ perHour: 1, basis: 'override' });
  });

  test('has the reference’s order of sizes', () => {
    const here = new RegionPrices(aws, 'me-central-1');
    const there = new RegionPrices(aws, 'us-east-1');
    const names = aws.types.map(({ name }) => name).filter((name) => there.of(name));
    const cheapFirst = (prices: RegionPrices) =>
      names.toSorted((a, b) => (prices.of(a)?.perHour ?? 0) - (prices.of(b)?.perHour ?? 0));
    expect(cheapFirst(here)).toEqual(cheapFirst(there));
  });
});

test('a size that no region is known to price is unknown, not free', () => {
  expect(new RegionPrices(aws, 'us-east-1').of('r9g.metal-48xl')).toBeUndefined();
  expect(new RegionPrices(aws, 'eu-west-3').of('r9g.metal-48xl')).toBeUndefined();
});

/** Each region in turn is forgotten and guessed. docs/reference/prices.md tells these figures. */
test.each(cloudNames)('guesses about regions of %s are off by less than a tenth', (cloud) => {
  const file = factFile(cloud);
  const { reference } = file.header;
  const regions = file.regions.filter((region) => region !== reference);
  const plain = regions.map((region) => strayOf(new RegionPrices(file, reference), region));
  const guessed = regions.map((region) =>
    strayOf(new RegionPrices(factFileWithout(cloud, region), region), region),
  );
  expect(mean(guessed)).toBeLessThan(0.1);
  expect(mean(guessed)).toBeLessThan(mean(plain)); // the reference's own prices, unscaled

  /** How far from the truth half of the sizes are at most: 0.05 is five hundredths too dear or too cheap. */
  function strayOf(prices: RegionPrices, region: string): number {
    const strays = [...(file.region(region)?.prices ?? [])].flatMap(([type, { perHour }]) => {
      const guess = prices.of(type);
      return guess ? [Math.abs(guess.perHour / perHour - 1)] : [];
    });
    expect(strays.length).toBeGreaterThan(100);
    return median(strays) ?? Number.NaN;
  }
});

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

test('the middle of an even number of values lies between two', () => {
  expect([median([]), median([3]), median([4, 1]), median([9, 1, 2])]).toEqual([
    undefined,
    3,
    2.5,
    2,
  ]);
});
