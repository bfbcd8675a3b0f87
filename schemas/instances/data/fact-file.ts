import { type CloudName, familyOf } from '../cloud.ts';
import type { MachineType } from '../instance-type.ts';
import { fromHex } from './bits.ts';

/** Where numbers were read, and the day (or month) that they were true for. */
export interface Source {
  readonly from: string;
  readonly asOf: string;
}

/**
 * How a recorded price was come by: read in a published table; one size of the family read in a catalogue, the others
 * by vCPU count; or the price of the family's predecessor in the region times a fixed factor.
 */
export type RecordedBasis = 'table' | 'catalogue' | 'derived';

export type Sources = Readonly<
  { types: Source } & { [what in RecordedBasis | 'zones']?: Source | undefined }
>;

export type Rules = Readonly<Record<string, readonly [predecessor: string, factor: number]>>;

/** The first line: what holds for the whole cloud. */
export interface Header {
  readonly cloud: CloudName;
  /** On demand, Linux, default tenancy, without disks, addresses and traffic. */
  readonly unit: 'USD per hour';
  readonly sources: Sources;
  /** What derived prices follow from: family → its predecessor and the factor. */
  readonly rules?: Rules;
  /** The region that has most prices; the others are measured by it. */
  readonly reference: string;
  /**
   * How dear a region is beside the reference: the median of the ratios of all prices that both have. Regions in the
   * order of their names, which is also the order of their lines.
   */
  readonly factors: Readonly<Record<string, number>>;
}

/** The second line: one row for each size, in the order of their names. */
export type TypeRow = readonly [
  name: string,
  vcpus: number,
  memoryMiB: number,
  architecture: MachineType['architecture'],
  metal: 0 | 1,
  nested: 0 | 1,
];

/** A further line: one region. */
export interface RegionLine {
  readonly region: string;
  /** The day of its published table. */
  readonly asOf: string;
  /** Families whose prices are not from the table. */
  readonly families: Readonly<Partial<Record<Exclude<RecordedBasis, 'table'>, readonly string[]>>>;
  /** Zone id → which sizes are sold there, as bits (bits.ts); empty where that was not recorded. */
  readonly zones: Readonly<Record<string, string>>;
  /** One for each size; null = not known, which is not free. */
  readonly prices: readonly (number | null)[];
}

export interface RecordedPrice {
  /** USD, more than 0. */
  readonly perHour: number;
  readonly basis: RecordedBasis;
  readonly asOf: string;
}

export interface RegionFacts {
  readonly prices: ReadonlyMap<string, RecordedPrice>;
  /** Zone id → sizes; empty where that was not recorded. Sold does not mean in stock. */
  readonly soldIn: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * What a cloud sells and for how much, as it was recorded: `<cloud>.jsonl` beside this file, made by `npm run data`.
 *
 * A cloud's text is some 40 kB. It is kept as it is, and only the lines of regions that are asked for are parsed.
 */
export class FactFile {
  readonly header: Header;
  readonly #lines: readonly string[];
  #types: readonly MachineType[] | undefined;

  constructor(text: string) {
    const [first = '', ...lines] = text.trimEnd().split('\n');
    this.header = JSON.parse(first) as Header;
    this.#lines = lines;
  }

  /** In the order of their names. */
  get regions(): readonly string[] {
    return Object.keys(this.header.factors);
  }

  /** All sizes that can run guests, wherever they are sold, in the order of their names. */
  get types(): readonly MachineType[] {
    this.#types ??= this.#read<readonly TypeRow[]>(0).map((row) => this.#typeOf(row));
    return this.#types;
  }

  /** Undefined for a region that nothing was recorded of. */
  region(name: string): RegionFacts | undefined {
    const index = this.regions.indexOf(name);
    if (index < 0) return undefined;
    const line = this.#read<RegionLine>(index + 1);
    return { prices: this.#pricesOf(line), soldIn: this.#soldIn(line) };
  }

  #pricesOf({ asOf, families, prices }: RegionLine): Map<string, RecordedPrice> {
    const known = this.types.flatMap(({ name, family }, index) => {
      const perHour = prices[index];
      if (perHour === undefined || perHour === null) return [];
      const basis = basisOf(family, families);
      const day = basis === 'table' ? asOf : this.header.sources[basis]?.asOf;
      return [[name, { perHour, basis, asOf: day ?? asOf }] as const];
    });
    return new Map(known);
  }

  #soldIn({ zones }: RegionLine): Map<string, Set<string>> {
    const sold = Object.entries(zones).map(([zone, hex]) => {
      const types = this.types.filter((_, index) => fromHex(hex, index));
      return [zone, new Set(types.map(({ name }) => name))] as const;
    });
    return new Map(sold);
  }

  #typeOf([name, vcpus, memoryMiB, architecture, metal, nested]: TypeRow): MachineType {
    const size = { name, family: familyOf(this.header.cloud, name), vcpus, memoryMiB };
    return { ...size, architecture, metal: metal === 1, nested: nested === 1 };
  }

  #read<T>(line: number): T {
    return JSON.parse(this.#lines[line] ?? '') as T;
  }
}

function basisOf(family: string, { catalogue, derived }: RegionLine['families']): RecordedBasis {
  if (derived?.includes(family)) return 'derived';
  return catalogue?.includes(family) ? 'catalogue' : 'table';
}
