import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Source, Sources, TypeRow } from '#schemas/instances/data/fact-file.ts';

import type { Facts, RecordedRegion, RecordedType } from './facts.ts';

interface Recorded {
  readonly asOf: string;
  readonly source: string;
}

interface RecordedTypes extends Recorded {
  readonly columns: readonly string[];
  readonly types: readonly TypeRow[];
}

interface RecordedPrices extends Recorded {
  readonly currency: string;
  readonly unit: string;
  readonly regions: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

type ByRegion<T> = Readonly<Record<string, T>>;

interface AwsPrices extends RecordedPrices {
  readonly regionAsOf: ByRegion<string>;
  readonly catalogueAsOf: string;
  readonly catalogueFamilies: ByRegion<readonly string[]>;
  readonly derivedFamilies: ByRegion<readonly string[]>;
  readonly derivedRules: Readonly<
    Record<string, readonly [predecessor: string, factor: number, seenIn: number]>
  >;
}

interface AwsOfferings extends Recorded {
  readonly zoneKind: string;
  readonly regions: ByRegion<RecordedRegion['zones']>;
}

/**
 * Reads `aws-instance-types.json`, `aws-offerings.json` and `aws-prices.json`.
 *
 * @throws Error for a file that is not there, or that means something else than it did
 */
export function readAws(folder: string): Facts {
  const types = read<RecordedTypes>(folder, 'aws-instance-types.json');
  const offerings = read<AwsOfferings>(folder, 'aws-offerings.json');
  const prices = pricesIn<AwsPrices>(folder, 'aws-prices.json');
  expectSame('aws-offerings.json', 'zoneKind', offerings.zoneKind, 'availability-zone-id');
  return {
    cloud: 'aws',
    reference: 'us-east-1',
    sources: { types: sourceOf(types), zones: sourceOf(offerings), ...priceSources(prices) },
    rules: rulesOf(prices),
    types: typesOf(types, 'aws-instance-types.json'),
    regions: Object.entries(prices.regions).map(([region, priced]) => ({
      region,
      asOf: prices.regionAsOf[region] ?? prices.asOf,
      families: {
        catalogue: prices.catalogueFamilies[region] ?? [],
        derived: prices.derivedFamilies[region] ?? [],
      },
      prices: priced,
      zones: offerings.regions[region] ?? {},
    })),
  };
}

/** Reads `gcp-machine-types.json` and `gcp-prices.json`. @throws Error as {@link readAws} */
export function readGcp(folder: string): Facts {
  const types = read<RecordedTypes>(folder, 'gcp-machine-types.json');
  const prices = pricesIn<RecordedPrices>(folder, 'gcp-prices.json');
  return {
    cloud: 'gcp',
    reference: 'us-central1',
    sources: { types: sourceOf(types), table: sourceOf(prices) },
    rules: {},
    types: typesOf(types, 'gcp-machine-types.json'),
    regions: Object.entries(prices.regions).map(([region, priced]) => ({
      region,
      asOf: prices.asOf,
      families: { catalogue: [], derived: [] },
      prices: priced,
      zones: {},
    })),
  };
}

/** The recorded text names them in this order: the tables, the catalogue, the rules. */
function priceSources({ source, asOf, catalogueAsOf }: AwsPrices): Omit<Sources, 'types'> {
  const parts = source.split('; ');
  expectSame('aws-prices.json', 'number of sources', String(parts.length), '4');
  const [derived = '', catalogue = '', ...tables] = parts.toReversed();
  return {
    table: { from: tables.toReversed().join('; '), asOf },
    catalogue: { from: catalogue, asOf: catalogueAsOf },
    derived: { from: derived, asOf: catalogueAsOf },
  };
}

function rulesOf({ derivedRules }: AwsPrices): Facts['rules'] {
  const rules = Object.entries(derivedRules).map(
    ([family, [predecessor, factor]]) => [family, [predecessor, factor]] as const,
  );
  return Object.fromEntries(rules);
}

function typesOf({ columns, types }: RecordedTypes, file: string): RecordedType[] {
  const read = columns.slice(0, 6).join();
  expectSame(file, 'columns', read, 'type,vcpus,memoryMiB,arch,metal,nested');
  return types.map(([name, vcpus, memoryMiB, architecture, metal, nested]) => ({
    name,
    vcpus,
    memoryMiB,
    architecture,
    metal: metal === 1,
    nested: nested === 1,
  }));
}

function pricesIn<T extends RecordedPrices>(folder: string, file: string): T {
  const prices = read<T>(folder, file);
  expectSame(file, 'currency', prices.currency, 'USD');
  expectSame(file, 'unit', prices.unit, 'hour');
  return prices;
}

function sourceOf({ source, asOf }: Recorded): Source {
  return { from: source, asOf };
}

function read<T>(folder: string, file: string): T {
  return JSON.parse(readFileSync(join(folder, file), 'utf8')) as T;
}

/** Numbers are taken over only where they mean what they meant when this was written. */
function expectSame(file: string, field: string, found: string, wanted: string): void {
  if (found === wanted) return;
  throw new Error(`${file}: ${field} is "${found}" and no longer "${wanted}"`);
}
