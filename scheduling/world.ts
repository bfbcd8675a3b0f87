/** A problem in the form in which a pass works on it: names are numbers, alike things are one thing. */
import type { Pod, Taint } from '#schemas/kubernetes/core.ts';

import type { Miss } from './explain.ts';
import { Wishes } from './labels/asked.ts';
import { less, templatesOf, type Template } from './machines/template.ts';
import { NodeKinds } from './places/node-kind.ts';
import { NodeRoom } from './places/node-room.ts';
import { groupsOf, type PodGroup } from './pods/group.ts';
import { hostPortsOf, type HostPort } from './pods/host-ports.ts';
import { troubleOf } from './pods/trouble.ts';
import {
  complete,
  placesOf,
  variantsOf,
  type Draft,
  type Variant,
  type VariantSource,
} from './pods/variant.ts';
import { AmountTooLarge, Slots, type Amounts } from './slots.ts';
import type { NodeInSight, Problem } from './solver.ts';
import { countBound, keepersOf } from './topology/bound.ts';
import { NamespaceSets } from './topology/namespaces.ts';
import { Topology } from './topology/topology.ts';

/** A group that waits for its turn. */
export interface Queued {
  readonly group: PodGroup;
  /** The most demanding first; none where there is trouble. */
  readonly variants: readonly Variant[];
  /** Those without wishes. */
  readonly last: readonly Variant[];
  /** Why it can go nowhere, whatever there is. */
  readonly trouble: Miss | undefined;
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

/** @throws InvalidQuantity */
export function worldOf(problem: Problem): World {
  const groups = groupsOf(problem);
  const slots = new Slots([
    'cpu',
    'memory',
    ...groups.flatMap(({ form }) => Object.keys(form.requests)),
  ]);
  const topology = new Topology(new NamespaceSets(problem.namespaces));
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
    queue: drafted.map((one) => queuedOf(one, topology)).toSorted(harderFirst),
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
  const trouble = troubleOf(group, problem, source.topology.namespaces);
  if (trouble) return { group, drafts: [], last: 0, trouble };
  try {
    const drafts = variantsOf(group, slots.needs(group.form.requests), source);
    return { group, drafts, last: placesOf(group), trouble };
  } catch (error) {
    if (!(error instanceof AmountTooLarge)) throw error;
    const { resource, message } = error;
    return { group, drafts: [], last: 0, trouble: { reason: 'Resources', resource, message } };
  }
}

function queuedOf({ group, drafts, last, trouble }: Drafted, topology: Topology): Queued {
  const { namespace, labels } = group;
  const counted = topology.counters.about(namespace, labels);
  const keptBy = topology.keepers.about(namespace, labels);
  const variants = drafts.map((one) => complete(one, counted, keptBy));
  return { group, variants, last: variants.slice(variants.length - last), trouble };
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
 * Pods that need a host of their own kind first, since they open machines that others can fill; then larger ones, since
 * small Pods fill what large ones leave; the rest of the order only makes it one order.
 */
function harderFirst(a: Queued, b: Queued): number {
  const [[first], [second]] = [a.variants, b.variants];
  return (
    Number(isPicky(second)) - Number(isPicky(first)) ||
    descending(first?.needs, second?.needs) ||
    (a.group.age < b.group.age ? -1 : 1)
  );
}

/** Few can share a host with it. */
function isPicky(variant: Variant | undefined): boolean {
  return variant?.hostRules.some(({ kind }) => kind !== 'affinity') ?? false;
}

/** By cpu, then by memory: the first two slots. */
function descending(a: Amounts | undefined, b: Amounts | undefined): number {
  for (let slot = 0; slot < 2; slot++) {
    const [first, second] = [a?.[slot] ?? 0, b?.[slot] ?? 0];
    if (first !== second) return second - first;
  }
  return 0;
}

function hasUnwanted({ pools, nodes }: Problem): boolean {
  const isUnwanted = ({ effect }: Taint): boolean => effect === 'PreferNoSchedule';
  return (
    pools.some(({ pool }) => pool.spec.template.spec.taints?.some(isUnwanted)) ||
    nodes.some(({ taints }) => taints.some(isUnwanted))
  );
}
