/**
 * kube-scheduler's judgement over a plan, in the plainest words: nodes are looked at one by one and Pods are counted anew
 * each time. It shares no code with the solver but what reads quantities and single requirements.
 *
 * Source: k8s.io/kubernetes v1.37, pkg/scheduler/framework/plugins: noderesources, nodeaffinity, tainttoleration,
 * nodeports, podtopologyspread, interpodaffinity.
 */
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { NodeSelectorRequirement, Pod, Taint } from '#schemas/kubernetes/core.ts';
import type { LabelSelector, ResourceList } from '#schemas/kubernetes/meta.ts';
import { labels, onDemand, taints } from '#schemas/names.ts';
import { addResources, fits } from '#schemas/quantity/resources.ts';

import { podRequests } from '../pod-requests.ts';
import type { Plan, PlannedClaim, Problem } from '../solver.ts';
import { tolerates } from '../taints.ts';
import type { PodTerm, Spread } from '../topology/terms.ts';
import { ValueSet } from '../value-set.ts';

type Labels = Record<string, string>;

/** A node as it will be there. */
export interface JudgedNode {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly room: ResourceList;
  /** Pods on it that rules look at; their requests are no more part of the room. */
  readonly there: readonly Pod[];
  /** Pods that have been bound to it since. */
  readonly pods: Pod[];
}

/**
 * Binds every planned Pod to its node in some order, again and again while any can be, as kube-scheduler does with
 * nominated Pods.
 *
 * @param order  in which Pods are tried
 * @returns those that never can be, as `namespace/name on node: reason`
 */
export function unbound(
  problem: Problem,
  plan: Plan,
  order: (pods: string[]) => string[] = (all) => all,
): string[] {
  const nodes = nodesAfter(problem, plan);
  const targets = targetsOf(plan);
  const pods = new Map(problem.pods.map((pod) => [keyOf(pod), pod]));
  let waiting = order([...targets.keys()]);
  for (let isMoving = true; isMoving;) {
    const left = waiting.filter((key) => {
      const node = nodes.find(({ name }) => name === targets.get(key));
      const pod = pods.get(key);
      if (!node || !pod || whyNot(pod, node, nodes) !== undefined) return true;
      node.pods.push(pod);
      return false;
    });
    isMoving = left.length < waiting.length;
    waiting = left;
  }
  return waiting.map((key) => {
    const node = nodes.find(({ name }) => name === targets.get(key))!;
    return `${key} on ${node.name}: ${whyNot(pods.get(key)!, node, nodes)}`;
  });
}

function isEnding({ metadata, status }: Pod): boolean {
  return metadata?.deletionTimestamp !== undefined || status?.phase === 'Succeeded';
}

/**
 * Pods that the plan refuses although, once all others are bound, some node would take them as it is.
 *
 * @returns `namespace/name on node`
 */
export function overlooked(problem: Problem, plan: Plan): string[] {
  const nodes = nodesAfter(problem, plan);
  const targets = targetsOf(plan);
  for (const pod of problem.pods) {
    nodes.find(({ name }) => name === targets.get(keyOf(pod)))?.pods.push(pod);
  }
  return problem.pods
    .filter((pod) => plan.unschedulable.has(keyOf(pod)))
    .flatMap((pod) => {
      const node = nodes.find((each) => whyNot(pod, each, nodes) === undefined);
      return node ? [`${keyOf(pod)} on ${node.name}`] : [];
    });
}

const keyOf = ({ metadata }: Pod): string => `${metadata?.namespace}/${metadata?.name}`;
const claimName = (index: number): string => `planned-${index}`;

function targetsOf({ claims, nominations }: Plan): Map<string, string> {
  const planned = claims.flatMap(({ pods }, index) =>
    pods.map((key) => [key, claimName(index)] as const),
  );
  return new Map([...nominations, ...planned]);
}

function nodesAfter(problem: Problem, { claims }: Plan): JudgedNode[] {
  const boundTo = (name: string): Pod[] =>
    (problem.bound ?? []).flatMap(({ pod, on }) => (on === name && !isEnding(pod) ? [pod] : []));
  const there = problem.nodes.map(({ name, labels: own, taints: all, allocatable, requested }) => ({
    name,
    labels: { [labels.hostname]: name, ...own },
    taints: all,
    room: addResources(allocatable, negative(requested)),
    there: boundTo(name),
    pods: [],
  }));
  const closed = (problem.closed ?? []).map(({ name, labels: own, taints: all }) => ({
    name,
    labels: { [labels.hostname]: name, ...own },
    taints: all,
    room: {},
    there: boundTo(name),
    pods: [],
  }));
  return [...there, ...closed, ...claims.map((claim, index) => nodeOf(problem, claim, index))];
}

/** The cheapest machine that the claim allows, in the first zone that it allows. */
function nodeOf({ pools }: Problem, claim: PlannedClaim, index: number): JudgedNode {
  const { pool, labels: given } = pools.find(
    ({ pool: one }) => one.metadata?.name === claim.nodePool,
  )!;
  const { metadata, spec } = pool.spec.template;
  const type = claim.instanceTypes[0]!;
  const custom = claim.requirements.flatMap(({ key, operator, values = [] }) =>
    operator === 'In' && values.length === 1 ? [[key, values[0]!]] : [],
  );
  return {
    name: claimName(index),
    labels: {
      ...metadata?.labels,
      ...given,
      ...(Object.fromEntries(custom) as Labels),
      ...type.labels,
      [labels.nodePool]: claim.nodePool,
      [labels.capacityType]: onDemand,
      [labels.zone]: zoneOf(claim, type),
      [labels.hostname]: claimName(index),
    },
    taints: [taints.kraftlet, ...(spec.taints ?? [])],
    room: type.capacity,
    there: [],
    pods: [],
  };
}

function zoneOf({ requirements }: PlannedClaim, { offerings }: InstanceType): string {
  const asked = requirements.filter(({ key }) => key === labels.zone);
  const found = offerings.find(
    ({ zone, available }) => available && asked.every((one) => ValueSet.of(one).has(zone)),
  );
  if (!found) throw new Error('the cheapest machine of a claim is sold nowhere');
  return found.zone;
}

function negative(list: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(list).map(([name, text]) => [name, `-${text}`]));
}

/** The first plugin that refuses, as kube-scheduler's filters do. */
function whyNot(pod: Pod, node: JudgedNode, nodes: readonly JudgedNode[]): string | undefined {
  const requests = addResources(...[...node.pods, pod].map(({ spec }) => podRequests(spec!)));
  const wanted = Object.fromEntries(Object.entries(requests).filter(([, text]) => text !== '0'));
  if (!fits(wanted, node.room)) return 'no room';
  if (!toleratesAll(pod, node.taints)) return 'taints';
  if (!accepts(pod, node)) return 'labels';
  if (portsClash(pod, node)) return 'host port';
  return spreadProblem(pod, node, nodes) ?? affinityProblem(pod, node, nodes);
}

function toleratesAll({ spec }: Pod, all: readonly Taint[]): boolean {
  return all.every(
    (taint) =>
      taint.effect === 'PreferNoSchedule' ||
      spec?.tolerations?.some((toleration) => tolerates(toleration, taint)),
  );
}

function accepts({ spec }: Pod, { labels: own }: JudgedNode): boolean {
  const isSelected = Object.entries(spec?.nodeSelector ?? {}).every(
    ([key, value]) => own[key] === value,
  );
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms ?? [{ matchExpressions: [] }];
  return (
    isSelected &&
    terms.some(
      ({ matchExpressions = [] }) =>
        (required === undefined || matchExpressions.length > 0) &&
        matchExpressions.every((one) => holds(one, own)),
    )
  );
}

function holds(one: NodeSelectorRequirement, own: Labels): boolean {
  const value = own[one.key];
  const set = ValueSet.of(one);
  return value === undefined ? set.allowsAbsence : set.has(value);
}

interface Port {
  readonly name: string;
  readonly ip: string | undefined;
}

function portsOf({ spec }: Pod): Port[] {
  return (spec?.containers ?? [])
    .flatMap(({ ports = [] }) => ports)
    .flatMap(({ hostPort, hostIP, protocol = 'TCP' }) =>
      hostPort ? [{ name: `${protocol} ${hostPort}`, ip: hostIP }] : [],
    );
}

function portsClash(pod: Pod, { there, pods }: JudgedNode): boolean {
  const taken = [...there, ...pods].flatMap(portsOf);
  return portsOf(pod).some(({ name, ip }) =>
    taken.some((other) => other.name === name && (!ip || !other.ip || ip === other.ip)),
  );
}

function spreadProblem(
  pod: Pod,
  node: JudgedNode,
  nodes: readonly JudgedNode[],
): string | undefined {
  const all = (pod.spec?.topologySpreadConstraints ?? []) as unknown as Spread[];
  const hard = all.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
  const known = nodes.filter((each) =>
    hard.every(({ topologyKey: key }) => Object.hasOwn(each.labels, key)),
  );
  const bad = hard.find((one) => !spreads(one, pod, node, known));
  return bad && `spread over ${bad.topologyKey}`;
}

/** @param nodes  those that have the key of every spread of the Pod: no other is looked at */
function spreads(one: Spread, pod: Pod, node: JudgedNode, nodes: readonly JudgedNode[]): boolean {
  const { topologyKey: key, maxSkew, minDomains = 1 } = one;
  const here = node.labels[key];
  if (here === undefined) return false;
  const looked = nodes.filter(
    (each) =>
      (one.nodeAffinityPolicy === 'Ignore' || accepts(pod, each)) &&
      (one.nodeTaintsPolicy !== 'Honor' || toleratesAll(pod, each.taints)),
  );
  const counted = (each: Pod): boolean => isCounted(one, pod, each);
  const counts = new Map<string, number>();
  for (const each of looked) {
    const domain = each.labels[key]!;
    const more = podsOf(each).filter(counted).length;
    counts.set(domain, (counts.get(domain) ?? 0) + more);
  }
  const least = counts.size < minDomains ? 0 : Math.min(...counts.values());
  return (counts.get(here) ?? 0) + Number(counted(pod)) - least <= maxSkew;
}

function isCounted(
  { labelSelector, matchLabelKeys = [] }: Spread,
  owner: Pod,
  other: Pod,
): boolean {
  const [own, its] = [owner.metadata?.labels ?? {}, other.metadata?.labels ?? {}];
  return (
    owner.metadata?.namespace === other.metadata?.namespace &&
    selects(labelSelector, its) &&
    matchLabelKeys.every((key) => own[key] === undefined || own[key] === its[key])
  );
}

function affinityProblem(
  pod: Pod,
  node: JudgedNode,
  nodes: readonly JudgedNode[],
): string | undefined {
  const others = nodes.flatMap((each) => podsOf(each).map((other) => ({ each, other })));
  const inDomain = (key: string, each: JudgedNode): boolean =>
    node.labels[key] !== undefined && node.labels[key] === each.labels[key];
  const isKept = others.some(({ each, other }) =>
    termsOf(other, 'podAntiAffinity').some(
      (term) => meant(term, other, pod) && inDomain(term.topologyKey, each),
    ),
  );
  if (isKept) return 'kept away';
  const isBeside = termsOf(pod, 'podAntiAffinity').some((term) =>
    others.some(({ each, other }) => meant(term, pod, other) && inDomain(term.topologyKey, each)),
  );
  if (isBeside) return 'anti-affinity';
  return isNear(pod, node, others) ? undefined : 'affinity';
}

function isNear(
  pod: Pod,
  node: JudgedNode,
  others: readonly { readonly each: JudgedNode; readonly other: Pod }[],
): boolean {
  const terms = termsOf(pod, 'podAffinity');
  if (terms.some(({ topologyKey }) => node.labels[topologyKey] === undefined)) return false;
  const friends = others.filter(
    ({ each, other }) =>
      terms.every((term) => meant(term, pod, other)) &&
      terms.some(({ topologyKey }) => each.labels[topologyKey] !== undefined), // elsewhere it is not counted at all
  );
  if (friends.length === 0) return terms.every((term) => meant(term, pod, pod));
  return terms.every(({ topologyKey }) =>
    friends.some(({ each }) => each.labels[topologyKey] === node.labels[topologyKey]),
  );
}

function meant({ namespaces, labelSelector }: PodTerm, owner: Pod, other: Pod): boolean {
  const own = owner.metadata?.namespace ?? '';
  return (
    (namespaces ?? [own]).includes(other.metadata?.namespace ?? '') &&
    selects(labelSelector, other.metadata?.labels ?? {})
  );
}

function selects(selector: LabelSelector | undefined, own: Labels): boolean {
  if (!selector) return false;
  const isEqual = Object.entries(selector.matchLabels ?? {}).every(
    ([key, value]) => own[key] === value,
  );
  return isEqual && (selector.matchExpressions ?? []).every((one) => holds(one, own));
}

const podsOf = ({ there, pods }: JudgedNode): readonly Pod[] => [...there, ...pods];

function termsOf({ spec }: Pod, kind: 'podAffinity' | 'podAntiAffinity'): readonly PodTerm[] {
  const terms = spec?.affinity?.[kind]?.['requiredDuringSchedulingIgnoredDuringExecution'];
  return Array.isArray(terms) ? (terms as PodTerm[]) : [];
}
