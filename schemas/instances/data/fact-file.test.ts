import { describe, expect, test } from 'vitest';

import { cloudNames, familyOf } from '../cloud.ts';
import type { FactFile } from './fact-file.ts';
import { factFile, textOf } from './testing/files.ts';

const day = /^20\d\d-\d\d(-\d\d)?$/;
const aws = factFile('aws');
const gcp = factFile('gcp');

describe.each(cloudNames)('what is recorded of %s', (cloud) => {
  const file = cloud === 'aws' ? aws : gcp;
  const regions = file.regions.map((name) => ({ name, facts: mustHave(file, name) }));

  test('is in order, and nothing twice', () => {
    const names = file.types.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)].toSorted());
    expect(file.regions).toEqual([...new Set(file.regions)].toSorted());
    expect(textOf(cloud).trimEnd().split('\n')).toHaveLength(2 + file.regions.length);
  });

  test('is sizes that can run guests, by metal or nested, of a size that machines have', () => {
    for (const { name, family, vcpus, memoryMiB, metal, nested } of file.types) {
      expect.soft(metal, name).toBe(!nested);
      expect.soft(family.length, name).toBeGreaterThan(1);
      expect.soft(vcpus, name).toBeGreaterThanOrEqual(1);
      expect.soft(vcpus, name).toBeLessThanOrEqual(1024);
      expect.soft(memoryMiB / vcpus, name).toBeGreaterThan(512);
      expect.soft(memoryMiB / vcpus, name).toBeLessThanOrEqual(65_536);
    }
  });

  test('is prices of known sizes, each with its day, dear by the vCPU and not by the month', () => {
    const sizes = new Map(file.types.map((type) => [type.name, type]));
    for (const { name, facts } of regions) {
      expect.soft(facts.prices.size, name).toBeGreaterThan(100);
      for (const [type, { perHour, asOf }] of facts.prices) {
        expect.soft(asOf, `${name} ${type}`).toMatch(day);
        const perCore = perHour / (sizes.get(type)?.vcpus ?? Number.NaN);
        expect.soft(perCore, `${name} ${type}`).toBeGreaterThan(0.01);
        expect.soft(perCore, `${name} ${type}`).toBeLessThan(1);
      }
    }
  });

  test('says for each kind of number where it is from', () => {
    const { types, ...others } = file.header.sources;
    for (const source of [types, ...Object.values(others)]) {
      expect(source?.from).toMatch(/\w{5}/);
      expect(source?.asOf).toMatch(day);
    }
    const kinds = new Set(
      regions.flatMap(({ facts }) => [...facts.prices.values()].map(({ basis }) => basis)),
    );
    expect(Object.keys(others)).toEqual(expect.arrayContaining([...kinds]));
  });

  test('is small enough to carry: the text of a cloud, and the line of a region', () => {
    const lines = textOf(cloud).split('\n');
    expect(textOf(cloud).length).toBeLessThan(64 * 1024);
    expect(Math.max(...lines.slice(2).map((line) => line.length))).toBeLessThan(4 * 1024);
  });
});

test('prices that many people know are what they know', () => {
  const priceOf = (file: FactFile, region: string, type: string) =>
    mustHave(file, region).prices.get(type);
  expect(priceOf(aws, 'us-east-1', 'm8i.xlarge')).toMatchObject({ perHour: 0.21168 });
  expect(priceOf(aws, 'us-east-1', 'c5.metal')).toMatchObject({ perHour: 4.08 });
  expect(priceOf(gcp, 'us-central1', 'n2-standard-4')).toMatchObject({ perHour: 0.194236 });
  expect(priceOf(gcp, 'us-central1', 'c3-standard-4')).toMatchObject({ perHour: 0.201608 });
});

test('a published price is told as such, and one that follows from something else stays marked', () => {
  const frankfurt = mustHave(aws, 'eu-central-1').prices;
  expect(mustHave(aws, 'us-east-1').prices.get('m7i.xlarge')).toEqual({
    perHour: 0.2016,
    basis: 'table',
    asOf: '2026-07-20',
  });
  expect(frankfurt.get('m7i.xlarge')).toMatchObject({ basis: 'table', asOf: '2025-05-28' });
  expect(frankfurt.get('r8i.large')).toMatchObject({ basis: 'catalogue', asOf: '2026-04' });
  expect(frankfurt.get('m8i.large')).toMatchObject({ basis: 'derived', asOf: '2026-04' });
});

test('a derived price is its predecessor’s times the factor that the file names', () => {
  const rules = aws.header.rules ?? {};
  const checked = aws.regions.flatMap((region) => {
    const { prices } = mustHave(aws, region);
    return [...prices].flatMap(([type, { perHour, basis }]) => {
      const [predecessor, factor] = rules[familyOf('aws', type)] ?? ['', 1];
      const before = prices.get(type.replace(/^[^.]+/, predecessor));
      if (basis !== 'derived' || !before) return [];
      return [{ region, type, stray: Math.abs((before.perHour * factor) / perHour - 1) }];
    });
  });
  // The other predecessors cannot run guests and are not in the file.
  expect(checked.length).toBeGreaterThan(300);
  expect(checked.filter(({ stray }) => stray > 0.002)).toEqual([]);
});

test('sizes are sold in zones; where the file does not know, it says nothing', () => {
  const { soldIn } = mustHave(aws, 'us-east-1');
  expect(soldIn.get('use1-az1')?.has('m8i.large')).toBe(true);
  expect(soldIn.get('use1-az3')?.has('m8i.large')).toBe(false);
  expect(mustHave(gcp, 'us-central1').soldIn.size).toBe(0);
});

test('every price is of a size that is sold in the region, where zones are known', () => {
  const strays = aws.regions.flatMap((region) => {
    const { prices, soldIn } = mustHave(aws, region);
    const sold = new Set([...soldIn.values()].flatMap((types) => [...types]));
    return [...prices.keys()].filter((type) => !sold.has(type));
  });
  expect(strays).toEqual([]);
});

test('a region of which nothing is recorded is undefined', () => {
  expect(aws.region('eu-west-3')).toBeUndefined();
});

function mustHave(file: FactFile, region: string) {
  const facts = file.region(region);
  if (!facts) throw new Error(`${file.header.cloud} has no ${region}`);
  return facts;
}
