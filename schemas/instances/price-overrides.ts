import { type CloudName, cloudNames } from './cloud.ts';

/** USD per hour by size. */
export type SizePrices = ReadonlyMap<string, number>;
/** By `<cloud>.<region>`: `aws.eu-central-1`. */
export type PriceOverrides = ReadonlyMap<string, SizePrices>;

export interface ReadOverrides {
  readonly prices: PriceOverrides;
  /** What was not taken: where it stands, and what to write instead. Empty when all was taken. */
  readonly problems: readonly string[];
}

/** A machine costs a few hundred dollars an hour at most; more is a price by the month. */
const highest = 2000;

const patterns: Readonly<Record<CloudName, { region: RegExp; size: RegExp; like: string }>> = {
  aws: { region: /^[a-z]+(-[a-z]+)+-\d+$/, size: /^[a-z0-9-]+\.[a-z0-9-]+$/, like: 'm8i.large' },
  gcp: { region: /^[a-z]+-[a-z]+\d+$/, size: /^[a-z0-9]+(-[a-z0-9]+)+$/, like: 'n2-standard-4' },
};

/**
 * Prices that somebody set in a ConfigMap: one key for each cloud and region (`aws.eu-central-1`), its value one line
 * for each size (`m8i.large: 0.12`, USD per hour). docs/reference/prices.md describes it for people.
 *
 * The lines look like YAML and are read without it: a full list would hold the process up for a second.
 *
 * A line that cannot be used is left out with a problem, and what `last` had for its size stays; all others are taken.
 * So a slip in one line neither takes the good lines with it nor lets a price jump back.
 *
 * @param last what held until now
 */
export function readOverrides(
  data: Readonly<Record<string, string>>,
  last: PriceOverrides = new Map(),
): ReadOverrides {
  const problems: string[] = [];
  const prices = Object.entries(data).flatMap(([key, text]) => {
    const cloud = cloudOf(key);
    if (cloud)
      return [[key, readSizes({ key, cloud, last: last.get(key), problems }, text)] as const];
    problems.push(
      `data[${key}]: name the key by cloud and region, such as aws.eu-central-1 or gcp.europe-west1`,
    );
    return [];
  });
  return { prices: new Map(prices), problems };
}

/** Key of a region in {@link PriceOverrides}. */
export function overrideKey(cloud: CloudName, region: string): string {
  return `${cloud}.${region}`;
}

/** Undefined unless the key names a cloud and something that may be a region of it: new ones come every year. */
function cloudOf(key: string): CloudName | undefined {
  const cloud = cloudNames.find((name) => key.startsWith(`${name}.`));
  return cloud && patterns[cloud].region.test(key.slice(cloud.length + 1)) ? cloud : undefined;
}

interface Reading {
  readonly key: string;
  readonly cloud: CloudName;
  readonly last: SizePrices | undefined;
  readonly problems: string[];
}

function readSizes({ key, cloud, last, problems }: Reading, text: string): SizePrices {
  const prices = new Map<string, number>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [size, price] = partsOf(line);
    if (size === '' && price === undefined) continue;
    const problem = problemOf(cloud, size, price) ?? twice(size, prices);
    const perHour = problem === undefined ? Number(price) : (prices.get(size) ?? last?.get(size));
    if (perHour !== undefined) prices.set(size, perHour);
    if (problem !== undefined) problems.push(`data[${key}] line ${index + 1}: ${problem}`);
  }
  return prices;
}

function twice(size: string, prices: SizePrices): string | undefined {
  return prices.has(size) ? `${size} is there twice; keep one of the lines` : undefined;
}

/** `m8i.large: 0.12 # agreed` → size and price; `['']` where nothing is said. */
function partsOf(line: string): [size: string, price?: string] {
  const said = line.replace(/(^|\s)#[^]*$/, '').trim();
  const colon = said.indexOf(':');
  return colon < 0 ? [said] : [said.slice(0, colon).trim(), said.slice(colon + 1).trim()];
}

function problemOf(cloud: CloudName, size: string, price = ''): string | undefined {
  const { size: pattern, like } = patterns[cloud];
  if (!pattern.test(size)) {
    return `${quoted(size)} is no size of ${cloud}; write a line such as "${like}: 0.12"`;
  }
  const perHour = /^\d+(\.\d+)?$/.test(price) ? Number(price) : 0;
  if (perHour > 0 && perHour <= highest) return undefined;
  return `${size} costs ${quoted(price)}; write USD per hour with a decimal point, more than 0 and at most ${highest}`;
}

/** What somebody wrote may be of any length. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
