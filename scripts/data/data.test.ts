import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { FactFile } from '#schemas/instances/data/fact-file.ts';
import { factFile as committed } from '#schemas/instances/data/testing/files.ts';

import type { Facts } from './facts.ts';
import { readAws, readGcp } from './recorded.ts';
import { factFile } from './text.ts';

/** Some sizes and regions of what the files in the repository were made from. */
const sample = fileURLToPath(new URL('testing', import.meta.url));

test.each([
  ['aws', readAws(sample)],
  ['gcp', readGcp(sample)],
] as const)('what stands in the repository of %s is what its facts say', (cloud, facts) => {
  const made = new FactFile(factFile(facts).text);
  const present = committed(cloud);
  const { factors: _, rules = {}, ...header } = made.header;
  expect(present.header).toMatchObject({ ...header, ...(facts.cloud === 'aws' && { rules }) });
  for (const type of made.types) expect(present.types).toContainEqual(type);
  expect(made.types.length).toBeGreaterThan(5);
  expect(made.regions).toHaveLength(3);
  for (const region of made.regions)
    expect(restricted(present, region)).toEqual(made.region(region));

  /** As much of a region as the sample has. */
  function restricted(file: FactFile, region: string) {
    const { prices = new Map(), soldIn = new Map() } = file.region(region) ?? {};
    const sampled = new Set(made.types.map(({ name }) => name));
    const zones = [...soldIn].map(([zone, types]) => [zone, types.intersection(sampled)] as const);
    return {
      prices: new Map([...prices].filter(([name]) => sampled.has(name))),
      soldIn: new Map(zones),
    };
  }
});

test('the order of the facts changes nothing', () => {
  const facts = readAws(sample);
  const types = facts.types.toReversed();
  const regions = facts.regions.toReversed().map((region) => ({
    ...region,
    prices: Object.fromEntries(Object.entries(region.prices).toReversed()),
    zones: Object.fromEntries(Object.entries(region.zones).toReversed()),
  }));
  expect(factFile({ ...facts, types, regions })).toEqual(factFile(facts));
});

test('how dear a region is, is the middle of what it and the reference both sell', () => {
  const { factors } = new FactFile(factFile(readAws(sample)).text).header;
  expect(factors['us-east-1']).toBe(1);
  expect(factors['sa-east-1']).toBeCloseTo(1.5937, 2);
});

describe('what cannot be true is refused by name', () => {
  const facts = readAws(sample);
  const priced = (prices: Record<string, number>): Partial<Facts> => ({
    regions: facts.regions.slice(0, 1).map((region) => ({ ...region, prices })),
  });
  const described = (change: Partial<Facts['types'][number]>): Partial<Facts> => ({
    types: facts.types.map((type) => ({ ...type, ...change })),
  });
  test.each<[what: string, Partial<Facts>, told: string]>([
    ['a price by the month', priced({ 'c5.metal': 2937 }), 'c5.metal costs 2937'],
    ['a free machine', priced({ 'c5.metal': 0 }), 'c5.metal costs 0'],
    ['an unknown size', priced({ 'c1.big': 1 }), 'c1.big is not in the list of types'],
    ['a size sold nowhere', priced({ 'x8aedz.metal-12xl': 1 }), 'is sold in no zone'],
    [
      'a region twice',
      { regions: [...facts.regions, ...facts.regions] },
      'us-east-1 is listed twice',
    ],
    ['no reference', { regions: [] }, 'us-east-1 is missing'],
    ['a size twice', { types: [...facts.types, ...facts.types] }, 'c5.metal is listed twice'],
    ['gibibytes for mebibytes', described({ memoryMiB: 16 }), 'c5.metal: 16 MiB for 96 vCPUs'],
    ['no vCPUs', described({ vcpus: 0 }), 'c5.metal: 0 vCPUs'],
    ['a size without guests', described({ metal: false, nested: false }), 'or able to nest'],
  ])('%s', (_what, change, told) => {
    expect(() => factFile({ ...facts, ...change })).toThrow(told);
  });
});

test('numbers that mean something else than they did are not taken over', () => {
  const folder = mkdtempSync(join(tmpdir(), 'facts-'));
  cpSync(sample, folder, { recursive: true });
  const file = join(folder, 'gcp-prices.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"USD"', '"EUR"'));
  expect(() => readGcp(folder)).toThrow('currency is "EUR" and no longer "USD"');
  expect(readAws(folder)).toEqual(readAws(sample));
  rmSync(folder, { recursive: true });
});
