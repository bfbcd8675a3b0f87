/** A problem in the form in which a pass works on it: names are numbers, alike things are one thing. */
import type { Pod, Taint } from '#schemas/kubernetes/core.ts';

import type { Miss } from './explain.ts';
import { Wishes } from './labels/asked.ts';
import { less } from './machines/sizes.ts';
import { templatesOf, type Template } from './machines/template.ts';
import { NodeKinds } from './places/node-kind.ts';
import { NodeRoom } from './places/node-room.ts';
import { groupsOf, type PodGroup } from './pods/group.ts';
import { hostPortsOf, type HostPort } from './pods/host-ports.ts';
import { troubleOf } from './pods/trouble.ts';
import {
  completed,
  placesOf,
  variantsOf,
  type Draft,
  type Variant,
  type VariantSource,
} from './pods/variant.ts';
import { AmountTooLarge, Slots } from './slots.ts';
import type { NodeInSight, Problem } from './solver.ts';
import { countBound, keepersOf } from './topology/bound.ts';
import { NamespaceSets } from './topology/namespaces.ts';
import { Topology } from './topology/topology.ts';

/** A group that waits for its turn. */
export interface Queued {
  readonly group: PodGroup;
  /** The most demanding first; none where there is trouble. */
  readonly variants: readonly (() => Variant)[];
  /** For each variant how many wishes are dropped. */
  readonly dropped: readonly number[];
  /** Those without wishes and without regard. */
  readonly last: () => readonly Variant[];
  /** Why it can go nowhere, whatever there is. */
  readonly trouble: Miss | undefined;
  /** When it comes, of groups alike in size and of all others; see {@link harderFirst}. */
  readonly rank: number;
  /** By cpu, then by memory. */
  readonly size: readonly [number, number];
}

export interface World {
  readonly slots: Slots;
  readonly topology: Topology;
  readonly templates: readonly Template[];
  readonly rooms: readonly NodeRoom[];
  readonly queue: readonly Queued[];
  /** Whether it is known which Pods there are already. */
  readonly knowsPods: boolean;
  /** Whether `minValues` may be missed. */
  readonly isLenient: boolean;
}

/** What is left to taste where several plans would do. */
export interface Taste {
  /** Which of domains that are equally good is taken first; see topology/domains.ts. */
  readonly turn: number;
  /** Whether Pods that are counted leave all domains even while they can, for those that may come to spread. */
  readonly isCareful: boolean;
}

const usual: Taste = { turn: 0, isCareful: true };

/** @throws InvalidQuantity */
export function worldOf(problem: Problem, taste = usual): World {
  const groups = groupsOf(problem);
  const slots = new Slots([
    'cpu',
    'memory',
    ...groups.flatMap(({ form }) => Object.keys(form.requests)).toSorted(),
  ]);
  const topology = new Topology(new NamespaceSets(problem.namespaces), taste.turn);
  const wishes = new Wishes();
  const source: VariantSource = {
    wishes,
    topology,
    policy: problem.preferencePolicy ?? 'Respect',
    hasUnwanted: hasUnwanted(problem),
    knowsPods: problem.bound !== undefined,
  };
  const drafted = groups.map((group) => draft(group, slots, source, problem));
  const keepers = keepersOf(problem, topology);
  const templates = templatesOf(problem.pools, problem.daemonSets, slots);
  const kinds = new NodeKinds([...wishes.keys, ...topology.keys.map(({ key }) => key)]);
  const rooms = roomsOf(problem, slots, kinds);
  countBound({ problem, topology, kinds, rooms, templates }, keepers);
  return {
    slots,
    topology,
    templates,
    rooms,
    queue: drafted.map((one) => queuedOf(one, topology, taste)).toSorted(harderFirst),
    knowsPods: source.knowsPods,
    isLenient: problem.minValuesPolicy === 'BestEffort',
  };
}

interface Drafted {
  readonly group: PodGroup;
  readonly drafts: readonly Draft[];
  readonly last: number;
  readonly trouble: Miss | undefined;
}

function draft(group: PodGroup, slots: Slots, source: VariantSource, problem: Problem): Drafted {
  const known = troubleOf(group, problem, source.topology.namespaces);
  if (known) return { group, drafts: [], last: 0, trouble: known };
  try {
    const drafts = variantsOf(group, slots.needs(group.form.requests), source);
    return { group, drafts, last: placesOf(group), trouble: undefined };
  } catch (error) {
    if (!(error instanceof AmountTooLarge)) throw error;
    const { resource, message } = error;
    const trouble: Miss = { reason: 'Resources', resource, code: 'KPU346', message };
    return { group, drafts: [], last: 0, trouble };
  }
}

function queuedOf(
  { group, drafts, last, trouble }: Drafted,
  topology: Topology,
  { isCareful }: Taste,
): Queued {
  const { namespace, labels } = group;
  const counted = topology.counters.about(namespace, labels);
  const keptBy = topology.keepers.about(namespace, labels);
  const made = drafts.map((one) => completed(one, counted, keptBy, isCareful).map(once));
  const [first] = made[0] ?? [];
  const { needs } = drafts[0] ?? {};
  return {
    group,
    variants: made.flat(),
    dropped: made.flatMap((ways, index) => ways.map(() => Math.floor(index / last))),
    last: () => made.slice(made.length - last).flatMap((ways) => ways.at(-1)?.() ?? []),
    trouble,
    rank: first ? rankOf(first()) : 0,
    size: [needs?.[0] ?? 0, needs?.[1] ?? 0],
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function roomsOf({ nodes, bound = [] }: Problem, slots: Slots, kinds: NodeKinds): NodeRoom[] {
  const ports = portsByNode(bound.map(({ pod, on }) => [on, pod] as const));
  return nodes.toSorted(byKindAndName).map((node, index) => {
    const free = less(slots.has(node.allocatable), slots.takes(node.requested));
    return new NodeRoom(index, node, kinds.of(node), { free, ports: ports.get(node.name) ?? [] });
  });
}

function portsByNode(bound: readonly (readonly [string, Pod])[]): Map<string, HostPort[]> {
  const ports = new Map<string, HostPort[]>();
  for (const [on, { spec }] of bound) {
    const taken = spec ? hostPortsOf(spec) : [];
    if (taken.length > 0) ports.set(on, [...(ports.get(on) ?? []), ...taken]);
  }
  return ports;
}

/** What is there comes before what is on its way. */
function byKindAndName(a: NodeInSight, b: NodeInSight): number {
  if (a.kind !== b.kind) return a.kind === 'node' ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

/**
 * Pods that need a host of their own kind come first, since they open machines that others can fill. Then come Pods
 * without rules that others count, so that those know what there is, and last those that seek others. Within each of
 * these larger ones come first, since small Pods fill what large ones leave.
 */
function harderFirst(a: Queued, b: Queued): number {
  return (
    a.rank - b.rank ||
    b.size[0] - a.size[0] ||
    b.size[1] - a.size[1] ||
    (a.group.age < b.group.age ? -1 : 1)
  );
}

function rankOf({ isLonely, isRuled, counted, opening }: Variant): number {
  if (isLonely) return 0;
  if (opening.some(({ isSought }) => isSought)) return 3;
  return !isRuled && counted.some(({ skew, isSought }) => skew < Infinity || isSought) ? 1 : 2;
}

function hasUnwanted({ pools, nodes }: Problem): boolean {
  const isUnwanted = ({ effect }: Taint): boolean => effect === 'PreferNoSchedule';
  return (
    pools.some(({ pool }) => pool.spec.template.spec.taints?.some(isUnwanted)) ||
    nodes.some(({ taints }) => taints.some(isUnwanted))
  );
}
