/**
 * The mix of Karpenter's own benchmark: one pool of 400 sizes and five equal kinds of Pods, so that both can be measured
 * side by side. Also what is hard for a solver: Pods that are all different, and Pods with wishes.
 *
 * Source of sizes, kinds and amounts: Karpenter v1.15,
 * pkg/controllers/provisioning/scheduling/scheduling_benchmark_test.go and pkg/cloudprovider/fake/instancetype.go. Its
 * random numbers are Go's own; these are others of the same distribution.
 */
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import { labelsOf } from '#schemas/instances/labels.ts';
import type { Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';

import type { NodeInSight, Problem } from '../solver.ts';
import { node, pool, problem, toKraftlet } from './build.ts';
import { randomFrom, type Random } from './random.ts';

const zones = ['test-zone-1', 'test-zone-2', 'test-zone-3'];
/** What upstream's fake machines keep for themselves. */
const overhead = { milliCpu: 100, mebibytes: 10 };

/** A size of so many vCPUs, 2 GiB and 10 Pods each; USD 0.1 for a vCPU and for 10^9 bytes. */
export function mixSize(vcpus: number): InstanceType {
  const name = `fake-it-${vcpus - 1}`;
  const memoryMiB = vcpus * 2048;
  const machine = {
    name,
    family: 'fake-it',
    vcpus,
    memoryMiB,
    architecture: 'amd64',
    metal: false,
    nested: true,
  } as const;
  const price = 0.1 * vcpus + (0.1 * memoryMiB * 2 ** 20) / 1e9;
  return {
    name,
    machine,
    offerings: zones.map((zone) => ({
      zone,
      zoneID: zone,
      price,
      priceDerived: false,
      available: true,
    })),
    capacity: {
      cpu: `${vcpus * 1000 - overhead.milliCpu}m`,
      memory: `${memoryMiB - overhead.mebibytes}Mi`,
      pods: `${vcpus * 10}`,
    },
    labels: labelsOf(machine),
  };
}

/** The pool of upstream's benchmark, with its limits. */
function mixPool(): ReturnType<typeof pool> {
  return pool('mix', {
    sizes: Array.from({ length: 400 }, (_, index) => mixSize(index + 1)),
    limits: { cpu: '10000000', memory: '10000000Gi' },
  });
}

/** @param count of Pods: a fifth plain, a fifth each with spread over zones and over hosts, affinity, anti-affinity */
export function mix(count: number, seed = 42): Problem {
  const random = randomFrom(seed);
  const fifth = Math.floor(count / 5);
  const kinds = [
    ...repeat(fifth, () => plain(random)),
    ...repeat(fifth, () => spread(random, labels.zone)),
    ...repeat(fifth, () => spread(random, labels.hostname)),
    ...repeat(fifth, () => together(random)),
    ...repeat(fifth, () => apart(random)),
    ...repeat(count - 5 * fifth, () => plain(random)),
  ];
  return problem({ pods: kinds.map(toPod), pools: [mixPool()], bound: [] });
}

/** Plain Pods of which no two ask for the same, up to 20,000. */
export function allDifferent(count: number): Problem {
  const pods = repeat(count, (index) => {
    const mebibytes = 100 + 4 * (index % 977) + Math.floor(index / 1400);
    return {
      labels: { app: `app-${index}` },
      requests: { cpu: `${100 + (index % 1400)}m`, memory: `${mebibytes}Mi` },
    };
  });
  return problem({ pods: pods.map(toPod), pools: [mixPool()], bound: [] });
}

/** The mix beside so many nodes that have little room left. */
export function besideNodes(count: number, nodes: number, seed = 42): Problem {
  const there = repeat(nodes, (index): NodeInSight => {
    const name = `node-${index}`;
    const placed = { [labels.zone]: zones[index % 3] ?? '', [labels.hostname]: name };
    const allocatable = { cpu: '8', memory: '16Gi', pods: '100' };
    const requested = { cpu: '7900m', memory: '15Gi', pods: '30' };
    return node(name, allocatable, { labels: placed, requested });
  });
  return { ...mix(count, seed), nodes: there };
}

/** Pods that would like a zone, and to be apart by zone and by host. */
export function wishful(count: number, seed = 42): Problem {
  const random = randomFrom(seed);
  const own = { app: 'nginx' };
  const requests = anyRequests(random);
  const away = (weight: number, topologyKey: string): unknown => ({
    weight,
    podAffinityTerm: { labelSelector: { matchLabels: own }, topologyKey },
  });
  const affinity = {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          preference: {
            matchExpressions: [
              { key: labels.zone, operator: 'In' as const, values: ['test-zone-1'] },
            ],
          },
        },
      ],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        away(10, labels.zone),
        away(1, labels.hostname),
      ],
    },
  };
  const pods = repeat(count, () => ({ labels: own, requests, spec: { affinity } }));
  return problem({ pods: pods.map(toPod), pools: [mixPool()], bound: [] });
}

interface Kind {
  readonly labels: Record<string, string>;
  readonly requests: ResourceList;
  readonly spec?: Partial<PodSpec>;
}

function plain(random: Random): Kind {
  return { labels: { 'my-label': anyLetter(random) }, requests: anyRequests(random) };
}

/** What it spreads over is seldom its own kind. */
function spread(random: Random, topologyKey: string): Kind {
  const own = { 'my-label': anyLetter(random) };
  const constraint = {
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { 'my-label': anyLetter(random) } },
  };
  const spec = { topologySpreadConstraints: [constraint] };
  return { labels: own, requests: anyRequests(random), spec };
}

function together(random: Random): Kind {
  const own = { 'my-affininity': anyLetter(random) };
  return {
    labels: own,
    requests: anyRequests(random),
    spec: affinity('podAffinity', own, labels.zone),
  };
}

function apart(random: Random): Kind {
  const own = { app: 'nginx' };
  const spec = affinity('podAntiAffinity', own, labels.hostname);
  return { labels: own, requests: anyRequests(random), spec };
}

function affinity(
  kind: 'podAffinity' | 'podAntiAffinity',
  matchLabels: Record<string, string>,
  topologyKey: string,
): Partial<PodSpec> {
  const terms = [{ labelSelector: { matchLabels }, topologyKey }];
  return { affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: terms } } };
}

const anyLetter = (random: Random): string => random.of(['a', 'b', 'c', 'd', 'e', 'f', 'g']);

function anyRequests(random: Random): ResourceList {
  const cpu = random.of([100, 250, 500, 1000, 1500]);
  const memory = random.of([100, 256, 512, 1024, 2048, 4096]);
  return { cpu: `${cpu}m`, memory: `${memory}Mi` };
}

function toPod({ labels: own, requests, spec }: Kind, index: number): Pod {
  return {
    metadata: { namespace: 'default', name: `pod-${index}`, labels: own },
    spec: {
      containers: [{ name: 'app', resources: { requests } }],
      tolerations: [toKraftlet],
      ...spec,
    },
  };
}

function repeat<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
