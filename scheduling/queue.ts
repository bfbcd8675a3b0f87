/** Who comes when, and what each may do: what groups have in common is found out once. */
import { InvalidQuantity } from '#schemas/quantity/quantity.ts';

import type { Miss } from './explain.ts';
import type { PodAmounts } from './pods/form.ts';
import type { PodGroup, PodKind } from './pods/group.ts';
import { troubleOf } from './pods/trouble.ts';
import {
  completed,
  placesOf,
  variantsOf,
  type Draft,
  type Variant,
  type VariantSource,
} from './pods/variant.ts';
import { AmountTooLarge, type Amounts, type Slots } from './slots.ts';
import type { Problem } from './solver.ts';
import type { Topology } from './topology/topology.ts';

/** Where Pods of a kind may go. */
export interface Ways {
  /** The most demanding first; none where there is trouble. */
  readonly variants: readonly (() => Variant)[];
  /** For each variant how many wishes are dropped. */
  readonly dropped: readonly number[];
  /** Those without wishes and without regard. */
  readonly last: () => readonly Variant[];
  /** When they come; see {@link harderFirst}. */
  readonly rank: number;
}

/** A group that waits for its turn. */
export interface Queued {
  readonly group: PodGroup;
  readonly ways: Ways;
  readonly needs: Amounts;
  /** Why it can go nowhere, whatever there is. */
  readonly trouble: Miss | undefined;
}

/** What is left to taste where several plans would do. */
export interface Taste {
  /** Which of domains that are equally good is taken first; see topology/domains.ts. */
  readonly turn: number;
  /** Whether Pods that are counted leave all domains even while they can, for those that may come to spread. */
  readonly isCareful: boolean;
}

/** A kind of which it is not known yet how others count it. */
interface Drafted {
  readonly drafts: readonly Draft[];
  readonly trouble: Miss | undefined;
}

export type Drafts = ReadonlyMap<PodKind, Drafted>;

/** What Pods ask themselves. Once all have, they can be asked who counts them; see {@link queueOf}. */
export function draftsOf(
  groups: readonly PodGroup[],
  source: VariantSource,
  problem: Problem,
): Drafts {
  const drafts = new Map<PodKind, Drafted>();
  for (const { kind } of groups) {
    if (drafts.has(kind)) continue;
    const trouble = troubleOf(kind, problem, source.topology.namespaces);
    drafts.set(kind, { drafts: trouble ? [] : variantsOf(kind, source), trouble });
  }
  return drafts;
}

/** All groups, in the order of their turns. */
export function queueOf(groups: readonly PodGroup[], source: QueueSource): readonly Queued[] {
  const asking = new Asking(source);
  return groups.map((group) => asking.queued(group)).toSorted(harderFirst);
}

export interface QueueSource {
  readonly drafts: Drafts;
  readonly topology: Topology;
  readonly slots: Slots;
  readonly taste: Taste;
}

/** The ways of a kind, and amounts in numbers. */
class Asking {
  readonly #source: QueueSource;
  readonly #ways = new Map<PodKind, Ways>();
  readonly #needs = new Map<PodAmounts, Amounts | Uncountable>();

  constructor(source: QueueSource) {
    this.#source = source;
  }

  queued(group: PodGroup): Queued {
    const { slots, drafts } = this.#source;
    const { drafts: own = [], trouble } = drafts.get(group.kind) ?? {};
    const ways = this.#ways.get(group.kind) ?? waysOf(group.kind, own, this.#source);
    this.#ways.set(group.kind, ways);
    const needs = this.#needs.get(group.amounts) ?? read(group.amounts, slots);
    this.#needs.set(group.amounts, needs);
    if (!(needs instanceof Error)) return { group, ways, needs, trouble };
    return { group, ways: noWays, needs: slots.none(), trouble: trouble ?? missOf(needs) };
  }
}

function waysOf(kind: PodKind, drafts: readonly Draft[], { topology, taste }: QueueSource): Ways {
  const { namespace, labels } = kind;
  const counted = topology.counters.about(namespace, labels);
  const keptBy = topology.keepers.about(namespace, labels);
  const made = drafts.map((one) => completed(one, counted, keptBy, taste.isCareful).map(once));
  const last = placesOf(kind);
  const [first] = made[0] ?? [];
  return {
    variants: made.flat(),
    dropped: made.flatMap((ways, index) => ways.map(() => Math.floor(index / last))),
    last: () => made.slice(made.length - last).flatMap((ways) => ways.at(-1)?.() ?? []),
    rank: first ? rankOf(first()) : 0,
  };
}

const noWays: Ways = { variants: [], dropped: [], last: () => [], rank: 0 };

type Uncountable = AmountTooLarge | InvalidQuantity;

function read({ requests, trouble }: PodAmounts, slots: Slots): Amounts | Uncountable {
  if (trouble) return trouble;
  try {
    return slots.needs(requests);
  } catch (error) {
    if (error instanceof AmountTooLarge || error instanceof InvalidQuantity) return error;
    throw error;
  }
}

function missOf(error: Uncountable): Miss {
  const { message } = error;
  return error instanceof AmountTooLarge
    ? { reason: 'Resources', resource: error.resource, code: 'KPU346', message }
    : { reason: 'Resources', code: 'KPU346', message: `asks for what cannot be read: ${message}` };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/**
 * Pods that need a host of their own kind come first, since they open machines that others can fill. Then come Pods
 * without rules that others count, so that those know what there is, and last those that seek others. Within each of
 * these larger ones come first, since small Pods fill what large ones leave.
 */
function harderFirst(a: Queued, b: Queued): number {
  return (
    a.ways.rank - b.ways.rank ||
    b.needs[0]! - a.needs[0]! ||
    b.needs[1]! - a.needs[1]! ||
    (a.group.age < b.group.age ? -1 : 1)
  );
}

function rankOf({ isLonely, isRuled, counted, opening }: Variant): number {
  if (isLonely) return 0;
  if (opening.some(({ isSought }) => isSought)) return 3;
  return !isRuled && counted.some(({ skew, isSought }) => skew < Infinity || isSought) ? 1 : 2;
}
