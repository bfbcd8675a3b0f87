import type { Pod } from '#schemas/kubernetes/core.ts';

import type { LabelState } from './machines/label-state.ts';
import type { Template } from './machines/template.ts';
import type { NodeKind, NodeKinds } from './places/node-kind.ts';
import type { NodeRoom } from './places/node-room.ts';
import { keepingTerms } from './pods/label-keys.ts';
import type { Problem } from './solver.ts';
import type { Counter } from './topology/counter.ts';
import type { NodeFilter } from './topology/node-filter.ts';
import { count } from './topology/record.ts';
import type { Subject, Topology } from './topology/topology.ts';

interface Known {
  readonly problem: Problem;
  readonly topology: Topology;
  readonly kinds: NodeKinds;
  readonly rooms: readonly NodeRoom[];
  readonly templates: readonly Template[];
}

interface Site {
  readonly where: NodeKind;
  /** Its number, unless it takes no new Pods. */
  readonly host: number | undefined;
}

/** Rules of Pods that have a place: they keep others away like those of new ones. */
export function keepersOf({ bound = [] }: Problem, topology: Topology): Map<Pod, Counter[]> {
  const keepers = new Map<Pod, Counter[]>();
  for (const { pod } of bound) {
    const terms = keepingTerms(pod);
    if (terms.length === 0) continue;
    keepers.set(
      pod,
      terms.map((term) => topology.keeper(term, subjectOf(pod))),
    );
  }
  return keepers;
}

/** Counts the Pods that have a place, and the domains that there are. Pods that end count no more. */
export function countBound(known: Known, keepers: ReadonlyMap<Pod, readonly Counter[]>): void {
  const { problem, topology } = known;
  const sites = sitesOf(known);
  for (const { pod, on } of problem.bound ?? []) {
    const site = sites.get(on);
    if (!site || isEnding(pod)) continue;
    const { namespace, labels } = subjectOf(pod);
    const counters = [...topology.counters.about(namespace, labels), ...(keepers.get(pod) ?? [])];
    for (const counter of counters) count(counter, site.where, site.host);
  }
  for (const counter of topology.counters.all) {
    counter.hosts.sort((a, b) => a - b); // Pods come in any order
    discover(counter, known);
  }
}

function sitesOf({ problem, kinds, rooms }: Known): Map<string, Site> {
  const open = rooms.map(({ node, where, index }) => [node.name, { where, host: index }] as const);
  const closed = (problem.closed ?? []).map(
    (node) => [node.name, { where: kinds.of(node), host: undefined }] as const,
  );
  return new Map<string, Site>([...closed, ...open]);
}

/**
 * Domains that a counter looks at: those of nodes, and those that a pool could make, which kube-scheduler does not know
 * yet; so the emptiest may be emptier than it is for kube-scheduler, never fuller.
 */
function discover(counter: Counter, { kinds, templates }: Known): void {
  const { domains, filter, known } = counter;
  if (domains.isHost) return;
  for (const kind of kinds.all) {
    const domain = kind.domainOf(domains);
    if (domain >= 0 && counter.looksAt(kind)) known.add(domain);
  }
  for (const template of templates) {
    for (const state of statesFor(filter, template)) {
      for (const domain of state.possible(domains)) known.add(domain);
    }
  }
}

/** A pool's machines as far as a filter admits them. */
function statesFor(
  filter: NodeFilter | undefined,
  { start, contradiction, taints }: Template,
): LabelState[] {
  if (contradiction !== undefined) return [];
  if (!filter) return [start];
  if (!filter.admitsTaints(taints)) return [];
  const states = filter.terms?.map((asked) => start.narrow(asked)) ?? [start];
  return states
    .filter((state) => typeof state !== 'string')
    .filter((state) => filter.admitsKeys(state));
}

function subjectOf({ metadata }: Pod): Subject {
  return { namespace: metadata?.namespace ?? '', labels: metadata?.labels ?? {} };
}

function isEnding({ metadata, status }: Pod): boolean {
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return isOver || metadata?.deletionTimestamp !== undefined;
}
