import type { Change, ResourceRecordSet } from '@aws-sdk/client-route-53';

import { DnsConflict } from '../../errors.ts';
import { ownerIn, ownershipName, ownershipText } from '../ownership.ts';
import type { AddressRecord, RecordOwner } from '../provider.ts';

/** Seconds; nobody but us reads ownership. */
const ownershipTtl = 300;

/** What one machine wants of one name: to read `record`, or (without one) not to be. */
export interface Wish {
  readonly name: string;
  readonly record: AddressRecord | undefined;
  readonly owner: RecordOwner;
}

/** All record sets of the names in question, as the zone has them now. */
export type ZoneView = ReadonlyMap<string, readonly ResourceRecordSet[]>;

/**
 * The changes that make one wish true; none when it is already.
 *
 * What exists is deleted with its exact present values and what shall exist is created, never upserted: the batch is
 * atomic and fails when somebody else changed either name since it was read, so nobody's record is ever overwritten.
 *
 * @throws DnsConflict when the name is taken and not ours
 */
export function changesFor(wish: Wish, view: ZoneView): Change[] {
  const marker = ownershipName(wish.name);
  const present = addressesAt(wish.name, view);
  const marks = (view.get(marker) ?? []).filter(({ Type }) => Type === 'TXT');
  const isOurs = marks.some((mark) => isOwnedBy(mark, wish.owner));
  if (!isOurs && !wish.record) return [];
  if (!isOurs && (present.length > 0 || marks.length > 0))
    throw new DnsConflict(conflict(wish, marks));
  if (!wish.record) return [...present, ...marks].map((set) => remove(set));
  const wanted = addressSet(wish.record);
  const stale = present.filter((set) => !isSame(set, wanted));
  return [
    ...stale.map((set) => remove(set)),
    ...(present.length === stale.length ? [create(wanted)] : []),
    ...(isOurs ? [] : [create(ownershipSet(marker, wish.owner))]),
  ];
}

/** The names whose record sets must be known to judge a wish. */
export function namesOf({ name }: Wish): readonly string[] {
  return [name, ownershipName(name)];
}

/** A name as Route 53 gives it back: with its dot, and `*` in octal. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll('\\052', '*').replace(/\.$/, '');
}

/** Records that would answer for an address at this name, whoever made them. */
function addressesAt(name: string, view: ZoneView): readonly ResourceRecordSet[] {
  const types = new Set(['A', 'AAAA', 'CNAME']);
  return (view.get(name) ?? []).filter(({ Type = '' }) => types.has(Type));
}

function addressSet({ name, address, ttl }: AddressRecord): ResourceRecordSet {
  const Type = address.includes(':') ? 'AAAA' : 'A';
  return { Name: name, Type, TTL: ttl, ResourceRecords: [{ Value: address }] };
}

function ownershipSet(name: string, owner: RecordOwner): ResourceRecordSet {
  const Value = `"${ownershipText(owner)}"`;
  return { Name: name, Type: 'TXT', TTL: ownershipTtl, ResourceRecords: [{ Value }] };
}

function isOwnedBy(mark: ResourceRecordSet, owner: RecordOwner): boolean {
  return valuesOf(mark).some((value) => {
    const found = ownerIn(value.replace(/^"|"$/g, ''));
    return found?.clusterUid === owner.clusterUid && found.claimUid === owner.claimUid;
  });
}

function isSame(a: ResourceRecordSet, b: ResourceRecordSet): boolean {
  return a.Type === b.Type && a.TTL === b.TTL && valuesOf(a).join() === valuesOf(b).join();
}

function valuesOf({ ResourceRecords = [] }: ResourceRecordSet): string[] {
  return ResourceRecords.map(({ Value = '' }) => Value);
}

function conflict({ name }: Wish, marks: readonly ResourceRecordSet[]): string {
  const holder = marks.flatMap(valuesOf).join(' ') || 'a record without our ownership';
  return `${name} is taken by ${holder}; remove it, or give spec.dns another zone or nameTemplate.`;
}

const create = (set: ResourceRecordSet): Change => ({ Action: 'CREATE', ResourceRecordSet: set });
const remove = (set: ResourceRecordSet): Change => ({ Action: 'DELETE', ResourceRecordSet: set });
