import type { Facts, RecordedRegion, RecordedType } from './facts.ts';

/** The dearest machine that is sold by the hour costs a few hundred dollars: more is most likely a price by the month. */
const highest = 2000;
/** MiB per vCPU: clouds sell from 0.9 GiB (GCP, highcpu) to 64 GiB (memory-optimised). */
const memoryRange = [512, 65_536] as const;

/** One line for each fact that cannot be true; empty when all may be. */
export function nonsenseIn({ types, regions, reference }: Facts): string[] {
  const names = types.map(({ name }) => name);
  const known = new Set(names);
  return [
    ...twice(names).map((name) => `types: ${name} is listed twice`),
    ...types.flatMap(nonsenseInType),
    ...twice(regions.map(({ region }) => region)).map((name) => `${name} is listed twice`),
    ...regions.flatMap((region) => nonsenseInRegion(region, known)),
    ...(regions.some(({ region }) => region === reference) ? [] : [`${reference} is missing`]),
  ];
}

function nonsenseInType({ name, vcpus, memoryMiB, architecture, metal, nested }: RecordedType) {
  const problems = [
    isCount(vcpus, 1, 2048) || `${vcpus} vCPUs`,
    isCount(memoryMiB / vcpus, ...memoryRange) || `${memoryMiB} MiB for ${vcpus} vCPUs`,
    ['amd64', 'arm64'].includes(architecture) || `architecture ${architecture}`,
    metal !== nested || 'has to be either bare metal or able to nest',
  ];
  return problems.filter((problem) => problem !== true).map((what) => `types: ${name}: ${what}`);
}

function nonsenseInRegion(
  { region, prices, zones }: RecordedRegion,
  known: ReadonlySet<string>,
): string[] {
  const strangers = [...new Set([...Object.keys(prices), ...Object.values(zones).flat()])];
  const priced = Object.entries(prices);
  const sold = new Set(Object.values(zones).flat());
  return [
    ...strangers
      .filter((name) => !known.has(name))
      .map((name) => `${region}: ${name} is not in the list of types`),
    ...priced
      .filter(([, price]) => !(price > 0 && price < highest))
      .map(([name, price]) => `${region}: ${name} costs ${price}`),
    ...priced
      .filter(([name]) => sold.size > 0 && !sold.has(name))
      .map(([name]) => `${region}: ${name} has a price and is sold in no zone`),
  ];
}

function isCount(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}

function twice(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}
