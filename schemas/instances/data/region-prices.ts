import type { FactFile, RecordedBasis, RegionFacts } from './fact-file.ts';

/** `override`: somebody who runs the cluster said so. `scaled`: another region's price times how dear this one is. */
export type PriceBasis = RecordedBasis | 'override' | 'scaled';

export interface Price {
  /** USD: on demand, Linux, default tenancy, without disks, addresses and traffic. */
  readonly perHour: number;
  readonly basis: PriceBasis;
  /** The day (or month) that the number was read for; none for an override. */
  readonly asOf?: string;
}

/**
 * What sizes cost in one region of a cloud: what was said to hold here, else what was recorded of this region, else
 * the reference region's price scaled.
 *
 * The scale of a region is the median ratio of the prices that it and the reference both have. A region of which
 * nothing was recorded takes its overrides for that; if there are none, the median scale of the regions that share the
 * first word of its name (`eu`, `europe`), and where none does, of all. Within a region the order of sizes, which is
 * what choosing goes by, is that of the reference then.
 *
 * Sources of the rule: docs/reference/prices.md has its errors, measured region by region.
 */
export class RegionPrices {
  readonly #file: FactFile;
  readonly #region: string;
  readonly #overrides: ReadonlyMap<string, number>;
  readonly #own: RegionFacts | undefined;
  #reference: RegionFacts | undefined;
  #scale: number | undefined;

  /** @param overrides  USD per hour by size */
  constructor(file: FactFile, region: string, overrides: ReadonlyMap<string, number> = new Map()) {
    this.#file = file;
    this.#region = region;
    this.#overrides = overrides;
    this.#own = file.region(region);
  }

  /** Undefined where no region is known to sell the size: the price is not known, which is not free. */
  of(instanceType: string): Price | undefined {
    const said = this.#overrides.get(instanceType);
    if (said !== undefined) return { perHour: said, basis: 'override' };
    return this.#own?.prices.get(instanceType) ?? this.#scaled(instanceType);
  }

  #scaled(instanceType: string): Price | undefined {
    const there = this.#referencePrice(instanceType);
    if (!there) return undefined;
    this.#scale ??= this.#file.header.factors[this.#region] ?? this.#scaleOfUnknown();
    // To a millionth of a dollar, as clouds write their own prices.
    const perHour = Number((there.perHour * this.#scale).toFixed(6));
    return { perHour, basis: 'scaled', asOf: there.asOf };
  }

  #scaleOfUnknown(): number {
    const ratios = [...this.#overrides].flatMap(([instanceType, perHour]) => {
      const there = this.#referencePrice(instanceType);
      return there ? [perHour / there.perHour] : [];
    });
    return median(ratios) ?? scaleOfArea(this.#region, this.#file.header.factors);
  }

  #referencePrice(instanceType: string) {
    this.#reference ??= this.#file.region(this.#file.header.reference);
    return this.#reference?.prices.get(instanceType);
  }
}

function scaleOfArea(region: string, factors: Readonly<Record<string, number>>): number {
  const areaOf = (name: string) => name.split('-', 1)[0];
  const known = Object.entries(factors);
  const near = known.filter(([name]) => areaOf(name) === areaOf(region));
  return median((near.length > 0 ? near : known).map(([, factor]) => factor)) ?? 1;
}

/** The middle one, or the mean of the middle two; undefined of none. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}
