import type { CloudName } from '#schemas/instances/cloud.ts';
import type { Rules, Sources } from '#schemas/instances/data/fact-file.ts';
import type { MachineType } from '#schemas/instances/instance-type.ts';

/** What was recorded of a cloud, in one shape whichever cloud it is. */
export interface Facts {
  readonly cloud: CloudName;
  readonly sources: Sources;
  /** What derived prices follow from. */
  readonly rules: Rules;
  /** The region that has most prices. */
  readonly reference: string;
  readonly types: readonly RecordedType[];
  readonly regions: readonly RecordedRegion[];
}

export type RecordedType = Omit<MachineType, 'family'>;

export interface RecordedRegion {
  readonly region: string;
  /** The day of its published table. */
  readonly asOf: string;
  /** Families of which one size was read in a catalogue, and families that follow from their predecessors. */
  readonly families: { readonly catalogue: readonly string[]; readonly derived: readonly string[] };
  /** USD per hour by size. */
  readonly prices: Readonly<Record<string, number>>;
  /** Sizes by zone id; empty where that was not recorded. */
  readonly zones: Readonly<Record<string, readonly string[]>>;
}
