/**
 * A managed zone and what may be changed in it. Pure: a change makes a new set of records or throws.
 *
 * Source: Cloud DNS API reference, changes.create, and the errors that users of it report.
 */
import { isIPv4 } from 'node:net';

import { CloudError } from '../wire/service.ts';

/** With its final dot. */
export interface RecordSet {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly rrdatas: readonly string[];
}

export interface Change {
  readonly additions: readonly RecordSet[];
  readonly deletions: readonly RecordSet[];
}

/** Record sets by {@link recordKey}. */
export type Records = ReadonlyMap<string, RecordSet>;

export const recordKey = ({ name, type }: Pick<RecordSet, 'name' | 'type'>): string =>
  `${name} (${type})`;

/** Records that a new zone has. */
export function emptyZone(dnsName: string): Records {
  const soa = `ns-1.sandbox.test. hostmaster.sandbox.test. 1 21600 3600 259200 300`;
  const records: RecordSet[] = [
    { name: dnsName, type: 'NS', ttl: 21_600, rrdatas: ['ns-1.sandbox.test.'] },
    { name: dnsName, type: 'SOA', ttl: 21_600, rrdatas: [soa] },
  ];
  return new Map(records.map((record) => [recordKey(record), record]));
}

/** All of a change or nothing. Deletions come first, and must say what is there exactly; an addition must be new. */
export function applied(dnsName: string, records: Records, change: Change): Records {
  const { additions, deletions } = change;
  if (additions.length + deletions.length === 0) throw required('entity.change');
  if (additions.length > 1000 || deletions.length > 1000) {
    throw new CloudError('invalid', 'A change may hold 1000 additions and 1000 deletions.');
  }
  const next = new Map(records);
  for (const [index, record] of deletions.entries()) {
    refuseDeletion(`entity.change.deletions[${index}]`, record, next.get(recordKey(record)));
    next.delete(recordKey(record));
  }
  for (const [index, record] of additions.entries()) {
    refuseAddition(`entity.change.additions[${index}]`, record, { dnsName, records: next });
    next.set(recordKey(record), record);
  }
  return next;
}

function refuseDeletion(place: string, record: RecordSet, present: RecordSet | undefined): void {
  const name = `'${place}' resource named '${recordKey(record)}'`;
  if (!present) throw new CloudError('notFound', `The ${name} does not exist.`, 404);
  const isSame =
    present.ttl === record.ttl &&
    JSON.stringify(present.rrdatas.toSorted()) === JSON.stringify(record.rrdatas.toSorted());
  if (!isSame) throw new CloudError('conditionNotMet', `Precondition not met for ${name}`, 412);
}

function refuseAddition(
  place: string,
  record: RecordSet,
  { dnsName, records }: { dnsName: string; records: Records },
): void {
  const { name, type, ttl, rrdatas } = record;
  const invalid = (field: string, value: string): CloudError =>
    new CloudError('invalid', `Invalid value for '${place}.${field}': '${value}'`);
  if (name !== dnsName && !name.endsWith(`.${dnsName}`)) throw invalid('name', name);
  if (!Number.isInteger(ttl) || ttl < 0) throw invalid('ttl', String(ttl));
  if (rrdatas.length === 0) throw required(`${place}.rrdata`);
  const bad = rrdatas.find((value) => !fits(type, value));
  if (bad !== undefined) throw invalid('rrdata', bad);
  if (records.has(recordKey(record))) {
    const message = `The resource '${place}' named '${recordKey(record)}' already exists`;
    throw new CloudError('alreadyExists', message, 409);
  }
  const clash = [...records.values()].some(
    (one) => one.name === name && (one.type === 'CNAME' || type === 'CNAME'),
  );
  if (!clash) return;
  const message = `The resource record set '${place}' is invalid because it conflicts with a CNAME.`;
  throw new CloudError('cnameResourceRecordSetConflict', message, 400);
}

function fits(type: string, value: string): boolean {
  if (type === 'A') return isIPv4(value);
  return type !== 'TXT' || /^"(?:[^"\\]|\\.)*"(?:\s+"(?:[^"\\]|\\.)*")*$/.test(value);
}

function required(field: string): CloudError {
  return new CloudError('required', `The '${field}' parameter is required but was missing.`);
}
