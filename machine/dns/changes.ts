import { DnsConflict } from '../errors.ts';
import { ownedNameOf, ownerIn, ownershipName, ownershipText } from './ownership.ts';
import type { AddressRecord, OwnedName, RecordOwner } from './provider.ts';

/** Seconds; nobody but us reads ownership. */
const ownershipTtl = 300;

/** All records of one name and type, as a zone holds them. */
export interface RecordSet {
  /** Lower case, without the final dot, `*` as it is. */
  readonly name: string;
  readonly type: string;
  /** Seconds. */
  readonly ttl: number;
  /** As zone files spell them: text in quotation marks. */
  readonly values: readonly string[];
}

export interface Change {
  readonly action: 'create' | 'delete';
  readonly set: RecordSet;
}

/** What one machine wants of one name: to read `record`, or (without one) not to be. */
export interface Wish {
  readonly name: string;
  readonly record: AddressRecord | undefined;
  readonly owner: RecordOwner;
}

/** All record sets of the names in question, as the zone has them now. */
export type ZoneView = ReadonlyMap<string, readonly RecordSet[]>;

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
  const marks = (view.get(marker) ?? []).filter(({ type }) => type === 'TXT');
  const isOurs = marks.some((mark) => isOwnedBy(mark, wish.owner));
  if (!isOurs && !wish.record) return [];
  if (!isOurs && (present.length > 0 || marks.length > 0))
    throw new DnsConflict(conflict(wish, marks));
  if (!wish.record) return [...present, ...marks].map((set) => remove(set));
  const wanted = addressSet(wish.name, wish.record);
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

/** A name as it is compared: lower case, without the final dot. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** Records that would answer for an address at this name, whoever made them. */
function addressesAt(name: string, view: ZoneView): readonly RecordSet[] {
  const types = new Set(['A', 'AAAA', 'CNAME']);
  return (view.get(name) ?? []).filter(({ type }) => types.has(type));
}

function addressSet(name: string, { address, ttl }: AddressRecord): RecordSet {
  return { name, type: address.includes(':') ? 'AAAA' : 'A', ttl, values: [address] };
}

function ownershipSet(name: string, owner: RecordOwner): RecordSet {
  return { name, type: 'TXT', ttl: ownershipTtl, values: [`"${ownershipText(owner)}"`] };
}

function isOwnedBy(mark: RecordSet, owner: RecordOwner): boolean {
  return ownersIn(mark).some(
    ({ clusterUid, claimUid }) => clusterUid === owner.clusterUid && claimUid === owner.claimUid,
  );
}

/** All that a TXT set names as owners; none when it is not of our kind. */
function ownersIn({ values }: RecordSet): RecordOwner[] {
  return values.flatMap((value) => ownerIn(value.replace(/^"|"$/g, '')) ?? []);
}

/**
 * The names that a cluster has marked as its own. A text of ours at a name where we write none marks nothing.
 *
 * @param sets  the whole zone
 */
export function ownedNames(sets: readonly RecordSet[], clusterUid: string): OwnedName[] {
  const view: ZoneView = Map.groupBy(sets, ({ name }) => name);
  const marks = sets.filter(({ type }) => type === 'TXT');
  return marks.flatMap((mark) => {
    const name = ownedNameOf(mark.name);
    if (name === undefined) return [];
    const addresses = addressesAt(name, view).flatMap(({ values }) => values);
    const owners = ownersIn(mark).filter((owner) => owner.clusterUid === clusterUid);
    return owners.map((owner) => ({ name, owner, addresses }));
  });
}

function isSame(a: RecordSet, b: RecordSet): boolean {
  return a.type === b.type && a.ttl === b.ttl && a.values.join() === b.values.join();
}

function conflict({ name }: Wish, marks: readonly RecordSet[]): string {
  const holder =
    marks.flatMap(({ values }) => values).join(' ') || 'a record without our ownership';
  return `${name} is taken by ${holder}; remove it, or give spec.dns another zone or nameTemplate.`;
}

const create = (set: RecordSet): Change => ({ action: 'create', set });
const remove = (set: RecordSet): Change => ({ action: 'delete', set });
