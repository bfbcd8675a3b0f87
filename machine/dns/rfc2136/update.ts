import type { Change, RecordSet } from '../changes.ts';
import { ownershipName } from '../ownership.ts';
import { classes, dataBytes, types, type Update, type WireRecord } from './wire.ts';

/** Types that would answer for an address at a name. */
const addressTypes = ['A', 'AAAA', 'CNAME'] as const;
const nothing = Buffer.alloc(0);

/**
 * Changes as one update that the server carries out whole, or not at all when the zone has become another since it was
 * read (RFC 2136 §3.2): what is deleted must read exactly so, where something is made there must be nothing, and the
 * ownership that allows it must still be there.
 *
 * @param marks  ownership records as they were read, by name
 */
export function updateOf(
  changes: readonly Change[],
  marks: ReadonlyMap<string, RecordSet>,
): Update {
  const deleted = changes.filter(({ action }) => action === 'delete').map(({ set }) => set);
  const created = changes.filter(({ action }) => action === 'create').map(({ set }) => set);
  const changed = new Set(changes.map(({ set }) => set.name));
  const allowing = [...changed].map(ownershipName).filter((name) => !changed.has(name));
  return {
    prerequisites: [
      ...deleted.flatMap((set) => records(set, classes.IN, 0)),
      ...allowing.flatMap((name) => records(marks.get(name), classes.IN, 0)),
      ...created.flatMap((set) => absences(set, deleted)),
    ],
    updates: [
      ...deleted.flatMap((set) => records(set, classes.NONE, 0)),
      ...created.flatMap((set) => records(set, classes.IN, set.ttl)),
    ],
  };
}

/** Holds while the zone has no such records, whatever a wildcard makes of their name. */
export function absence(name: string, type: string): WireRecord {
  return { name, type: numberOf(type), class: classes.NONE, ttl: 0, data: nothing };
}

/** What must not be there for a set to be made, save what goes in the same update. */
function absences({ name, type }: RecordSet, deleted: readonly RecordSet[]): WireRecord[] {
  const kin: readonly string[] = type === 'TXT' ? [type] : addressTypes;
  const goes = (other: string): boolean =>
    deleted.some((set) => set.name === name && set.type === other);
  return kin.filter((other) => !goes(other)).map((other) => absence(name, other));
}

function records(set: RecordSet | undefined, klass: number, ttl: number): WireRecord[] {
  if (!set) return [];
  const { name, type, values } = set;
  return values.map((value) => ({
    name,
    type: numberOf(type),
    class: klass,
    ttl,
    data: dataBytes(type as keyof typeof types, value),
  }));
}

function numberOf(type: string): number {
  return types[type as keyof typeof types];
}
