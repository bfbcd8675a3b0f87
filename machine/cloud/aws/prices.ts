import table from './data/prices.json' with { type: 'json' };

/**
 * Where a price comes from: a published table; a catalogue that lists one size of the family, the others by vCPU
 * count; the predecessor's price in the region times a fixed factor; or another region, where this one has no table.
 */
export type PriceBasis = 'table' | 'catalogue' | 'derived' | 'other region';

export interface Price {
  /** USD per hour: on demand, Linux, default tenancy, without disks, addresses and traffic. */
  readonly perHour: number;
  readonly basis: PriceBasis;
  /** The day (or month) that the number was read for. */
  readonly asOf: string;
}

interface PriceTable {
  readonly asOf: string;
  readonly regionAsOf: Readonly<Record<string, string>>;
  readonly catalogueAsOf: string;
  readonly catalogueFamilies: Readonly<Record<string, readonly string[]>>;
  readonly derivedFamilies: Readonly<Record<string, readonly string[]>>;
  readonly regions: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const prices: PriceTable = table;
/** The region with the most complete and most recent table. */
const reference = 'us-east-1';

/**
 * What a size costs in a region, as far as the data file knows; undefined = not known, which is not free.
 *
 * A region without any table is given the reference region's numbers: its prices differ from them by about one
 * factor, so that the order of sizes, which is all that choosing needs, stays right.
 */
export function priceOf(instanceType: string, region: string): Price | undefined {
  const known = prices.regions[region];
  if (!known) {
    const elsewhere = priceOf(instanceType, reference);
    return elsewhere && { ...elsewhere, basis: 'other region' };
  }
  const perHour = known[instanceType];
  if (perHour === undefined) return undefined;
  const basis = basisOf(familyOf(instanceType), region);
  const asOf = basis === 'table' ? prices.regionAsOf[region] : prices.catalogueAsOf;
  return { perHour, basis, asOf: asOf ?? prices.asOf };
}

/** `m8i` of `m8i.large` and of `m8i.metal-48xl`. */
export function familyOf(instanceType: string): string {
  return instanceType.split('.')[0] ?? instanceType;
}

function basisOf(family: string, region: string): PriceBasis {
  if (prices.derivedFamilies[region]?.includes(family)) return 'derived';
  return prices.catalogueFamilies[region]?.includes(family) ? 'catalogue' : 'table';
}
