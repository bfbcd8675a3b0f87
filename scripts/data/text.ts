import { toHex } from '#schemas/instances/data/bits.ts';
import type { Header, RegionLine, TypeRow } from '#schemas/instances/data/fact-file.ts';
import { median } from '#schemas/instances/data/region-prices.ts';

import type { Generated } from '../generate/files.ts';
import { nonsenseIn } from './check.ts';
import type { Facts, RecordedRegion, RecordedType } from './facts.ts';

/**
 * The facts as the file that `FactFile` reads. The same facts give the same bytes, in whatever order they came.
 *
 * @throws Error that names every fact that cannot be true
 */
export function factFile(facts: Facts): Generated {
  const nonsense = nonsenseIn(facts);
  if (nonsense.length > 0) throw new Error(nonsense.join('\n'));
  const types = facts.types.toSorted(by(({ name }) => name));
  const regions = facts.regions.toSorted(by(({ region }) => region));
  const lines = [
    headerOf(facts, regions),
    types.map(rowOf),
    ...regions.map((region) => lineOf(region, types)),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return { path: `schemas/instances/data/${facts.cloud}.jsonl`, text };
}

function headerOf(
  { cloud, sources, rules, reference }: Facts,
  regions: readonly RecordedRegion[],
): Header {
  const measure = regions.find(({ region }) => region === reference)?.prices ?? {};
  const factors = regions.map(({ region, prices }) => [region, factorOf(prices, measure)] as const);
  return {
    cloud,
    unit: 'USD per hour',
    sources,
    ...(Object.keys(rules).length > 0 && { rules }),
    reference,
    factors: Object.fromEntries(factors),
  };
}

/** Four digits: prices themselves stray by a hundredth and more. */
function factorOf(prices: RecordedRegion['prices'], measure: RecordedRegion['prices']): number {
  const ratios = Object.entries(prices).flatMap(([name, price]) => {
    const there = measure[name];
    return there === undefined ? [] : [price / there];
  });
  return Number((median(ratios) ?? 1).toFixed(4));
}

function rowOf({ name, vcpus, memoryMiB, architecture, metal, nested }: RecordedType): TypeRow {
  return [name, vcpus, memoryMiB, architecture, metal ? 1 : 0, nested ? 1 : 0];
}

function lineOf(
  { region, asOf, families, prices, zones }: RecordedRegion,
  types: readonly RecordedType[],
): RegionLine {
  const { catalogue, derived } = families;
  const sold = Object.entries(zones).toSorted(by(([zone]) => zone));
  return {
    region,
    asOf,
    families: {
      ...(catalogue.length > 0 && { catalogue: catalogue.toSorted() }),
      ...(derived.length > 0 && { derived: derived.toSorted() }),
    },
    zones: Object.fromEntries(
      sold.map(([zone, names]) => [zone, toHex(types.map(({ name }) => names.includes(name)))]),
    ),
    prices: types.map(({ name }) => prices[name] ?? null),
  };
}

function by<T>(nameOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (nameOf(a) < nameOf(b) ? -1 : 1);
}
