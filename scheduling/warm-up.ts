/**
 * A made-up cluster with some of everything. Solving it some hundred times makes the compiler look at the solver, so that
 * the first Pods that wait are planned for in a quarter of the time.
 *
 * What is compiled for objects of one form has to be compiled anew at the first of another. So labels have many names,
 * and fields come in any order, with and without others.
 */
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import { labelsOf } from '#schemas/instances/labels.ts';
import type { Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { group, labels, nodeClassKind, taints } from '#schemas/names.ts';

import type { BoundPod, NodeInSight, PoolInSight, Problem } from './solver.ts';

type Labels = Record<string, string>;

/** No two in a row are the same; every other cluster is empty, and every third has one pool. */
export function madeUpProblem(round: number): Problem {
  const nodes = round % 2 === 0 ? repeat(12, nodeOf) : [];
  const pools = [poolOf('general', {}), poolOf('reserved', { weight: 10, limits: { cpu: '64' } })];
  return {
    pods: repeat(300, (index) => inAnyOrder(podOf(index, round), index + round)),
    nodes: nodes.map(inAnyOrder),
    bound: nodes.flatMap((node, index) => repeat(3, (more) => boundOf(12 * more + index, node))),
    pools: pools.slice(round % 3 === 0 ? 1 : 0),
    daemonSets: [],
    namespaces: new Map([['shop', { team: 'shop' }]]),
  };
}

const zones = ['zone-a', 'zone-b', 'zone-c'];
const apps = ['web', 'api', 'cart', 'pay', 'mail', 'find', 'rank'];
const labelNames = ['app', 'app.kubernetes.io/name', 'component', 'k8s-app', 'tier', 'track'];

const sizes = repeat(64, (index): InstanceType => {
  const vcpus = 2 * (index + 1);
  const machine = {
    name: `size.${index}`,
    family: 'size',
    vcpus,
    memoryMiB: vcpus * 2048,
    architecture: 'amd64',
    metal: false,
    nested: true,
  } as const;
  return {
    name: machine.name,
    machine,
    offerings: zones.map((zone) => ({
      zone,
      zoneID: zone,
      price: vcpus / 10,
      priceDerived: false,
      available: true,
    })),
    capacity: { cpu: `${vcpus * 1000 - 100}m`, memory: `${vcpus * 2000}Mi`, pods: `${vcpus * 8}` },
    labels: labelsOf(machine),
  };
});

function poolOf(
  name: string,
  { weight, limits }: { readonly weight?: number; readonly limits?: ResourceList },
): PoolInSight {
  const requirements = [{ key: labels.arch, operator: 'In' as const, values: ['amd64'] }];
  const template = { spec: { nodeClassRef: { group, kind: nodeClassKind, name }, requirements } };
  const spec = { template, ...(weight !== undefined && { weight }), ...(limits && { limits }) };
  return { pool: { metadata: { name }, spec }, instanceTypes: sizes, remaining: limits ?? {} };
}

function nodeOf(index: number): NodeInSight {
  const name = `node-${index}`;
  return {
    name,
    kind: 'node',
    labels: {
      [labels.hostname]: name,
      [labels.zone]: zoneOf(index),
      [labels.nodePool]: 'general',
      [labels.arch]: 'amd64',
    },
    taints: [taints.kraftlet],
    allocatable: { cpu: '8', memory: '16Gi', pods: '64' },
    requested: { cpu: `${index % 8}`, memory: '4Gi', pods: '3' },
  };
}

function boundOf(index: number, { name }: NodeInSight): BoundPod {
  return { pod: inAnyOrder(podOf(index, 0), index), on: name };
}

function podOf(index: number, round: number): Pod {
  const mixed = index * 7 + round * 13;
  const own = kindOf(mixed);
  const requests = { cpu: `${100 + 50 * (mixed % 23)}m`, memory: `${128 + 64 * (mixed % 31)}Mi` };
  const more: Partial<PodSpec>[] = [{}, { priority: 0 }, { resources: {} }, { initContainers: [] }];
  const details = [{}, { image: 'app' }, { ports: [] }, { env: [] }, { args: [] }][index % 5];
  return {
    metadata: {
      namespace: 'shop',
      name: `pod-${round}-${index}`,
      labels: { ...own, [`hash-${mixed % 3}`]: `${mixed % 11}` },
      ...(index % 2 === 0 && { creationTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      containers: [{ name: 'app', ...details, resources: { requests } }],
      tolerations: [{ key: taints.kraftlet.key, operator: 'Exists' }],
      ...more[mixed % more.length],
      ...rules[index % rules.length]?.(own, kindOf(mixed + 3)),
    },
    ...(index % 3 === 0 && { status: {} }),
  };
}

function kindOf(mixed: number): Labels {
  const name = labelNames[mixed % labelNames.length] ?? '';
  return { [name]: apps[mixed % apps.length] ?? '' };
}

/** What a Pod says about nodes and about other Pods, of its own kind or of another. */
const rules: readonly ((own: Labels, other: Labels) => Partial<PodSpec>)[] = [
  () => ({}),
  (own) => ({ topologySpreadConstraints: [spread(labels.zone, own)] }),
  (_, other) => ({ topologySpreadConstraints: [spread(labels.hostname, other)] }),
  (own) => ({ affinity: { podAffinity: required(own, labels.zone) } }),
  (own) => ({ affinity: { podAntiAffinity: required(own, labels.hostname) } }),
  (_, other) => ({ topologySpreadConstraints: [spread(labels.zone, other)] }),
  (own) => ({ affinity: { podAntiAffinity: preferred(own), nodeAffinity: preferredZone } }),
  () => ({ nodeSelector: { [labels.zone]: 'zone-b' } }),
];

function spread(topologyKey: string, matchLabels: Labels): Record<string, unknown> {
  const labelSelector = { matchLabels };
  return { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector };
}

function termOf(matchLabels: Labels, topologyKey: string): object {
  return { labelSelector: { matchLabels }, topologyKey };
}

function required(own: Labels, topologyKey: string): Record<string, unknown> {
  return { requiredDuringSchedulingIgnoredDuringExecution: [termOf(own, topologyKey)] };
}

function preferred(own: Labels): Record<string, unknown> {
  const podAffinityTerm = termOf(own, labels.zone);
  return { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }] };
}

const preferredZone = {
  preferredDuringSchedulingIgnoredDuringExecution: [
    {
      weight: 1,
      preference: {
        matchExpressions: [{ key: labels.zone, operator: 'In' as const, values: ['zone-a'] }],
      },
    },
  ],
};

/** The same as objects that have been read, with the fields of each in another order. */
function inAnyOrder<T>(value: T, turn: number): T {
  return JSON.parse(JSON.stringify(turned(value, turn))) as T;
}

function turned(value: unknown, turn: number): unknown {
  if (Array.isArray(value)) return value.map((one) => turned(one, turn));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value);
  const at = turn % Math.max(1, fields.length);
  const inOrder = [...fields.slice(at), ...fields.slice(0, at)];
  return Object.fromEntries(inOrder.map(([key, one]) => [key, turned(one, turn)]));
}

function zoneOf(index: number): string {
  return zones[index % zones.length] ?? '';
}

function repeat<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
