/**
 * A hosted zone and what may be changed in it. Pure: a batch makes a new set of records or throws.
 *
 * Source: Route 53 API reference, ChangeResourceRecordSets; the messages are Route 53's own, since people (and
 * programs) read the reason out of them.
 */
import { isIPv4 } from 'node:net';

import { CloudError } from '../wire/service.ts';

export interface RecordSet {
  /** Lower case, with the final dot, `*` written `\052`. */
  readonly name: string;
  readonly type: string;
  /** Seconds. */
  readonly ttl: number;
  readonly values: readonly string[];
}

export interface Change {
  readonly action: string;
  readonly record: RecordSet;
}

/** Record sets by {@link recordKey}. */
export type Records = ReadonlyMap<string, RecordSet>;

export const recordKey = ({ name, type }: Pick<RecordSet, 'name' | 'type'>): string =>
  `${name} ${type}`;

/** A name as Route 53 stores it. */
export function canonical(name: string): string {
  const dotted = name.endsWith('.') ? name : `${name}.`;
  return dotted.toLowerCase().replaceAll('*', String.raw`\052`);
}

/** Records that a new zone has. */
export function emptyZone(zone: string): Records {
  const records: RecordSet[] = [
    { name: zone, type: 'NS', ttl: 172_800, values: ['ns-1.sandbox.test.'] },
    {
      name: zone,
      type: 'SOA',
      ttl: 900,
      values: ['ns-1.sandbox.test. hostmaster.sandbox.test. 1 7200 900 1209600 60'],
    },
  ];
  return new Map(records.map((record) => [recordKey(record), record]));
}

/**
 * All changes of a batch, one after the other, or none: throws InvalidChangeBatch with a message for every change
 * that does not fit.
 */
export function applyBatch(zone: string, records: Records, changes: readonly Change[]): Records {
  refuseSize(changes);
  const next = new Map(records);
  const troubles = changes.flatMap((change) => {
    const trouble = troubleWith(zone, next, change);
    if (trouble !== undefined) return [trouble];
    if (change.action === 'DELETE') next.delete(recordKey(change.record));
    else next.set(recordKey(change.record), change.record);
    return [];
  });
  if (troubles.length === 0) return next;
  throw new CloudError('InvalidChangeBatch', `[${troubles.join(', ')}]`);
}

/** At most 1000 records and 32000 characters of values; an UPSERT counts twice. */
function refuseSize(changes: readonly Change[]): void {
  const weigh = (measure: (record: RecordSet) => number): number =>
    changes.reduce(
      (sum, { action, record }) => sum + measure(record) * (action === 'UPSERT' ? 2 : 1),
      0,
    );
  const tooMany = weigh(({ values }) => values.length) > 1000;
  const tooLong = weigh(({ values }) => values.join('').length) > 32_000;
  if (!tooMany && !tooLong) return;
  const what = tooMany ? 'Number of records limit of 1000' : 'Number of characters limit of 32000';
  throw new CloudError('InvalidChangeBatch', `[${what} exceeded.]`);
}

function troubleWith(
  zone: string,
  records: Records,
  { action, record }: Change,
): string | undefined {
  const present = records.get(recordKey(record));
  if (record.name !== zone && !record.name.endsWith(`.${zone}`)) {
    return `RRSet with DNS name ${record.name} is not permitted in zone ${zone}`;
  }
  const invalid = record.values.map((value) => troubleWithValue(record.type, value)).find(Boolean);
  if (invalid !== undefined) return invalid;
  if (action === 'DELETE') return troubleWithDelete(record, present);
  if (action === 'CREATE' && present) {
    return `Tried to create resource record set ${told(record)} but it already exists`;
  }
  return troubleWithAlias(zone, records, record);
}

const told = ({ name, type }: RecordSet): string => `[name='${name}', type='${type}']`;

/** A DELETE must repeat what is there, to the value and the TTL. */
function troubleWithDelete(record: RecordSet, present: RecordSet | undefined): string | undefined {
  const tried = `Tried to delete resource record set ${told(record)} but`;
  if (!present) return `${tried} it was not found`;
  const same =
    present.ttl === record.ttl &&
    JSON.stringify(present.values.toSorted()) === JSON.stringify(record.values.toSorted());
  return same ? undefined : `${tried} the values provided do not match the current values`;
}

function troubleWithValue(type: string, value: string): string | undefined {
  const fatal = (problem: string): string =>
    `Invalid Resource Record: 'FATAL problem: ${problem} encountered with '${value}''`;
  if (type === 'A' && !isIPv4(value)) {
    return fatal('ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address)');
  }
  if (type === 'TXT' && !/^"(?:[^"\\]|\\.)*"(?:\s+"(?:[^"\\]|\\.)*")*$/.test(value)) {
    return fatal('InvalidCharacterString (Value should be enclosed in quotation marks)');
  }
  return undefined;
}

/** A CNAME stands alone under its name. */
function troubleWithAlias(zone: string, records: Records, record: RecordSet): string | undefined {
  const beside = [...records.values()].filter(
    ({ name, type }) => name === record.name && type !== record.type,
  );
  const clash = beside.some(({ type }) => type === 'CNAME' || record.type === 'CNAME');
  if (!clash) return undefined;
  return `RRSet of type ${record.type} with DNS name ${record.name} is not permitted as it conflicts with other records with the same DNS name in zone ${zone}`;
}

/** Order of a listing: by labels from the right, then by type. */
export function byReversedName(a: Pick<RecordSet, 'name' | 'type'>, b: typeof a): number {
  const [left, right] = [reversed(a.name), reversed(b.name)];
  if (left !== right) return left < right ? -1 : 1;
  return a.type === b.type ? 0 : a.type < b.type ? -1 : 1;
}

// a byte below every character of a name, so that a shorter name comes before those under it
const reversed = (name: string): string => name.split('.').toReversed().join('\u0000');
