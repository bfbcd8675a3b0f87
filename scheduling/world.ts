/** A problem in the form in which a pass works on it: names are numbers, alike things are one thing. */
import type { Pod, Taint } from '#schemas/kubernetes/core.ts';

import { countBound, keepersOf } from './bound.ts';
import { Wishes } from './labels/asked.ts';
import { templatesOf, type Template } from './machines/template.ts';
import { NodeKinds } from './places/node-kind.ts';
import { NodeRoom } from './places/node-room.ts';
import { groupsOf, type PodGroup } from './pods/group.ts';
import { hostPortsOf, type HostPort } from './pods/host-ports.ts';
import type { VariantSource } from './pods/variant.ts';
import { draftsOf, queueOf, type Drafts, type Queued, type Taste } from './queue.ts';
import { less, Slots } from './slots.ts';
import type { NodeInSight, Problem } from './solver.ts';
import { NamespaceSets } from './topology/namespaces.ts';
import { Topology } from './topology/topology.ts';

export interface World {
  readonly slots: Slots;
  readonly topology: Topology;
  readonly templates: readonly Template[];
  readonly rooms: readonly NodeRoom[];
  readonly queue: readonly Queued[];
  /** What Pods of each kind ask themselves. */
  readonly drafts: Drafts;
  /** Whether it is known which Pods there are already. */
  readonly knowsPods: boolean;
  /** Whether `minValues` may be missed. */
  readonly isLenient: boolean;
}

const usual: Taste = { turn: 0, isCareful: true };

/** @throws InvalidQuantity */
export function worldOf(problem: Problem, taste = usual): World {
  const groups = groupsOf(problem);
  const slots = slotsOf(groups);
  const topology = new Topology(new NamespaceSets(problem.namespaces), taste.turn);
  const wishes = new Wishes();
  const source: VariantSource = {
    wishes,
    topology,
    policy: problem.preferencePolicy ?? 'Respect',
    hasUnwanted: hasUnwanted(problem),
    knowsPods: problem.bound !== undefined,
  };
  const drafts = draftsOf(groups, source, problem);
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
    queue: queueOf(groups, { drafts, topology, slots, taste }),
    drafts,
    knowsPods: source.knowsPods,
    isLenient: problem.minValuesPolicy === 'BestEffort',
  };
}

/** Cpu and memory first, which say who is large; the rest by name, so that it is the same from pass to pass. */
function slotsOf(groups: readonly PodGroup[]): Slots {
  const amounts = new Set(groups.map((group) => group.amounts));
  const names = [...amounts].flatMap(({ requests }) => Object.keys(requests));
  return new Slots(['cpu', 'memory', ...names.toSorted()]);
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

function hasUnwanted({ pools, nodes }: Problem): boolean {
  const isUnwanted = ({ effect }: Taint): boolean => effect === 'PreferNoSchedule';
  return (
    pools.some(({ pool }) => pool.spec.template.spec.taints?.some(isUnwanted)) ||
    nodes.some(({ taints }) => taints.some(isUnwanted))
  );
}
