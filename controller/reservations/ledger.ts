/**
 * Who holds how much of one scope (a pool, or all of the cluster), and whether more may be held. Pure.
 *
 * In the cluster a ledger is the data of one ConfigMap: claim UID → JSON of {@link Entry}.
 */
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { ConfigMap } from '#schemas/kubernetes/core.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';
import { addResources } from '#schemas/quantity/resources.ts';
import type { Limit } from '#schemas/quotapolicy/ceilings.ts';

export interface Entry {
  /** Name of the claim, for people who read the ConfigMap. */
  readonly claim: string;
  /** What its machine takes of the limits, `nodes: 1` included. */
  readonly resources: ResourceList;
  /** Where the machine belongs; only in the ledger of the cluster, whose limits cover some and not others. */
  readonly pool?: string;
  readonly nodeClass?: string;
}

/** A limit on the sum of the entries that it covers; absent: of all. */
export interface Bound extends Limit {
  readonly covers?: (entry: Entry) => boolean;
}

/** By claim UID. */
export type Ledger = ReadonlyMap<string, Entry>;

export interface Granted {
  readonly granted: true;
}

/** The first limit that has no room, in the order of the limits; all amounts are canonical quantities. */
export interface Denied {
  readonly granted: false;
  readonly resource: string;
  readonly limit: string;
  /** The UnikraftQuotaPolicy whose ceiling it is; absent: a limit of the pool itself. */
  readonly policy?: string;
  /** What all other claims hold. */
  readonly use: string;
  readonly asked: string;
}

export type Verdict = Granted | Denied;

export function usedBy(entries: Iterable<Entry>): ResourceList {
  return addResources(...[...entries].map(({ resources }) => resources));
}

/**
 * Undefined when any entry is no entry of ours: someone wrote into the ConfigMap, so none of it can be trusted.
 *
 * @param before  as it was read or written last: what has not changed since is the very same entry
 */
export function readLedger(
  { data = {} }: ConfigMap,
  before: Ledger = new Map(),
): Ledger | undefined {
  const entries = Object.entries(data).map(([uid, text]) => {
    const known = before.get(uid);
    return [uid, known && textOf(known) === text ? known : readEntry(text)] as const;
  });
  const isSound = (pair: readonly [string, Entry | undefined]): pair is [string, Entry] =>
    pair[1] !== undefined;
  return entries.every(isSound) ? new Map(entries) : undefined;
}

/** An entry with canonical quantities in the order of their names, `nodes: 1` among them. */
export function entryOf(
  claim: string,
  resources: Readonly<ResourceList>,
  belongs: Pick<Entry, 'pool' | 'nodeClass'> = {},
): Entry {
  const size = Object.entries(addResources({ ...resources, nodes: '1' }));
  const resourcesInOrder = Object.fromEntries(size.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { claim, resources: resourcesInOrder, ...belongs };
}

/** Ordered by UID, so that the same ledger is always the same object. */
export function writeLedger(ledger: Ledger): Record<string, string> {
  const sorted = [...ledger].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([uid, entry]) => [uid, textOf(entry)]));
}

/** Entries never change, and most of a ledger is as it was at the write before. */
const texts = new WeakMap<Entry, string>();

/** As it stands in the ConfigMap. */
export function textOf(entry: Entry): string {
  const text = texts.get(entry) ?? JSON.stringify(entry);
  texts.set(entry, text);
  return text;
}

/**
 * What claims that may have a machine hold. A claim may have one from the moment its launch intent is written; one
 * without an intent has reserved nothing yet, or will do so again.
 */
export function ledgerOf(
  claims: readonly Live<NodeClaim>[],
  belongs: (claim: NodeClaim) => Pick<Entry, 'pool' | 'nodeClass'> = () => ({}),
): Ledger {
  return new Map(
    claims.filter(mayHaveMachine).map((claim) => {
      const { metadata, spec, status } = claim;
      const size = status?.capacity ?? spec.resources?.requests ?? {};
      return [metadata.uid, entryOf(metadata.name, size, belongs(claim))];
    }),
  );
}

function mayHaveMachine({ metadata, status }: NodeClaim): boolean {
  return (
    status?.providerID !== undefined || metadata?.annotations?.[annotations.intent] !== undefined
  );
}

/** Zero where nothing is said of it. A limit may have any name, that of a property of each object included. */
export function amountOf(list: Readonly<ResourceList>, resource: string): Quantity {
  const text = Object.hasOwn(list, resource) ? list[resource] : undefined;
  return text === undefined ? Quantity.zero : Quantity.parse(text);
}

function readEntry(text: string): Entry | undefined {
  try {
    const entry = JSON.parse(text) as Partial<Entry> | null;
    if (typeof entry?.claim !== 'string' || typeof entry.resources !== 'object') return undefined;
    Object.values(entry.resources).forEach((value) => Quantity.parse(value));
    const { claim, resources, pool, nodeClass } = entry;
    return {
      claim,
      resources,
      ...(typeof pool === 'string' && { pool }),
      ...(typeof nodeClass === 'string' && { nodeClass }),
    };
  } catch {
    return undefined;
  }
}
