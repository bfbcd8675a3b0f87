import { readFile } from 'node:fs/promises';

import type { CloudName } from '#schemas/instances/cloud.ts';
import { FactFile } from '#schemas/instances/data/fact-file.ts';
import { RegionPrices } from '#schemas/instances/data/region-prices.ts';
import type { MachineType } from '#schemas/instances/instance-type.ts';
import { overrideKey, type PriceOverrides } from '#schemas/instances/price-overrides.ts';

/** What is sold in one region: sizes that can run guests, and where. */
export interface RegionSizes {
  readonly types: readonly MachineType[];
  /** Zone → types that are sold there. Sold does not mean in stock. */
  readonly soldIn: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * What is known of clouds without asking them: sizes, where they are sold, and prices, as recorded in the files of
 * `schemas/instances/data/` and corrected by whoever runs the cluster.
 *
 * A cloud's file is read when the first question about it comes, and of it only the regions that are asked for are parsed.
 */
export class CloudFacts {
  readonly #files = new Map<CloudName, Promise<FactFile>>();
  readonly #prices = new Map<string, RegionPrices>();
  #overrides: PriceOverrides = new Map();

  /** From now on these prices hold, in place of all that were given before. */
  override(prices: PriceOverrides): void {
    this.#overrides = prices;
    this.#prices.clear();
  }

  async prices(cloud: CloudName, region: string): Promise<RegionPrices> {
    const key = overrideKey(cloud, region);
    const file = await this.#file(cloud);
    const prices =
      this.#prices.get(key) ?? new RegionPrices(file, region, this.#overrides.get(key));
    this.#prices.set(key, prices);
    return prices;
  }

  /** By zone id. Undefined for a region of which it was not recorded where sizes are sold. */
  async sizes(cloud: CloudName, region: string): Promise<RegionSizes | undefined> {
    const file = await this.#file(cloud);
    const soldIn = file.region(region)?.soldIn;
    if (soldIn === undefined || soldIn.size === 0) return undefined;
    const sold = new Set([...soldIn.values()].flatMap((types) => [...types]));
    return { types: file.types.filter(({ name }) => sold.has(name)), soldIn };
  }

  async #file(cloud: CloudName): Promise<FactFile> {
    const file = this.#files.get(cloud) ?? read(cloud);
    this.#files.set(cloud, file);
    file.catch(() => this.#files.delete(cloud)); // whoever asks next tries again
    return file;
  }
}

async function read(cloud: CloudName): Promise<FactFile> {
  // The bundle's package.json leads the same name to its own copy.
  const file = import.meta.resolve(`#schemas/instances/data/${cloud}.jsonl`);
  return new FactFile(await readFile(new URL(file), 'utf8'));
}
