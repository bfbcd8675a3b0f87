import { readFileSync } from 'node:fs';

import { FactFile } from '#schemas/instances/data/fact-file.ts';

export interface Zone {
  /** The account's own letter: `eu-central-1a`. */
  readonly name: string;
  /** The same place in every account: `euc1-az2`. */
  readonly id: string;
}

export interface InstanceSize {
  readonly type: string;
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly architecture: 'x86_64' | 'arm64';
  readonly metal: boolean;
  readonly nested: boolean;
  readonly localNvmeGB: number;
  readonly maxInterfaces: number;
}

export interface Region {
  readonly name: string;
  readonly zones: readonly Zone[];
  readonly sizes: readonly InstanceSize[];
  /** Whether a size is sold in a zone. */
  sells(type: string, zoneId: string): boolean;
}

interface RegionFile {
  region: string;
  zones: Record<string, string>;
  types: [string, number, number, 'amd64' | 'arm64', number, number, number, number, number][];
  missingFrom: Record<string, string[]>;
}

/** Frankfurt, and the sizes that it sells; the file names its sources. */
export function loadRegion(): Region {
  const file = new URL('../data/eu-central-1.json', import.meta.url);
  const { region, zones, types, missingFrom } = JSON.parse(
    readFileSync(file, 'utf8'),
  ) as RegionFile;
  return {
    name: region,
    zones: Object.entries(zones).map(([name, id]) => ({ name, id })),
    sizes: types.map(([type, vcpus, memoryMiB, arch, metal, nested, localNvmeGB, interfaces]) => ({
      type,
      vcpus,
      memoryMiB,
      architecture: arch === 'amd64' ? 'x86_64' : 'arm64',
      metal: metal === 1,
      nested: nested === 1,
      localNvmeGB,
      maxInterfaces: interfaces,
    })),
    sells: (type, zoneId) => !(missingFrom[zoneId] ?? []).includes(type),
  };
}

/** Ireland: of the sizes of a region those that are recorded to be sold there, zone by zone. */
export function otherRegion({ sizes }: Region): Region {
  const name = 'eu-west-1';
  const file = import.meta.resolve('#schemas/instances/data/aws.jsonl');
  const { soldIn = new Map() } =
    new FactFile(readFileSync(new URL(file), 'utf8')).region(name) ?? {};
  const sells = (type: string, zoneId: string): boolean => soldIn.get(zoneId)?.has(type) ?? false;
  const ids = [...soldIn.keys()];
  return {
    name,
    zones: ids.map((id, index) => ({ name: `${name}${'abc'[index]}`, id })),
    sizes: sizes.filter(({ type }) => ids.some((id) => sells(type, id))),
    sells,
  };
}

/** `eu-central-1a` is in `eu-central-1`: a zone has the name of its region and a letter. */
export function regionOf(zone: string): string {
  return zone.slice(0, -1);
}
