/** Nodes that are there or on their way, with Pods on them, and pools that make more. */
import fc from 'fast-check';

import type {
  BoundPod,
  ClosedNode,
  NodeInSight,
  PoolInSight,
  Problem,
} from '#scheduling/solver.ts';
import { pool, size } from '#scheduling/testing/build.ts';
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { Requirement } from '#schemas/karpenter/types.ts';
import type { Pod, Taint } from '#schemas/kubernetes/core.ts';
import { labels, taints } from '#schemas/names.ts';

import { hostPort, waitingPods, withPort } from './pods.ts';
import { keepingRules } from './rules.ts';
import {
  cordoned,
  dedicated,
  device,
  ofApp,
  podLabels,
  rack,
  racks,
  seldom,
  space,
  spaces,
  tier,
  zones,
} from './terms.ts';

const bound = fc.record({
  own: podLabels,
  namespace: space,
  cpu: fc.constantFrom('100m', '500m'),
  rules: seldom(keepingRules, 2),
  port: hostPort,
});

const site = fc.record({
  zone: fc.constantFrom(...zones),
  rack: seldom(fc.constantFrom(...racks), 1),
  cpu: fc.integer({ min: 1, max: 4 }),
  isGold: fc.boolean(),
  isDedicated: seldom(fc.constant(true)),
  /** A claim is a machine on its way, whose Node is not there yet. */
  kind: fc.constantFrom('node' as const, 'node' as const, 'claim' as const, 'closed' as const),
  bound: fc.array(bound, { maxLength: 2 }),
});

type Site = typeof site extends fc.Arbitrary<infer T> ? T : never;

const poolParts = fc.record({
  isGold: fc.boolean(),
  isDedicated: seldom(fc.constant(true), 4),
  isUnwanted: seldom(fc.constant(true), 8),
  racks: seldom(fc.subarray([...racks], { minLength: 1 }), 1),
  weight: seldom(fc.integer({ min: 1, max: 100 }), 1),
  zones: fc.subarray([...zones], { minLength: 1 }),
  nodes: seldom(fc.integer({ min: 1, max: 6 }), 2),
  cpu: seldom(fc.integer({ min: 4, max: 16 }), 4),
  /** How many Pods each of its machines takes. */
  pods: fc.constantFrom(3, 100, 100),
});

type PoolParts = typeof poolParts extends fc.Arbitrary<infer T> ? T : never;

/** @param most  of waiting groups, sites and pools */
export function anyCase(most: {
  readonly groups: number;
  readonly sites: number;
  readonly pools: number;
}): fc.Arbitrary<Problem> {
  return fc
    .record({
      pods: waitingPods(most.groups),
      sites: fc.array(site, { maxLength: most.sites }),
      pools: fc.array(poolParts, { minLength: 1, maxLength: most.pools }),
    })
    .map(({ pods, sites, pools }) => ({
      pods,
      pools: pools.map(poolOf),
      nodes: sites.flatMap(nodeOf),
      closed: sites.flatMap(closedOf),
      bound: sites.flatMap(boundTo),
      daemonSets: [],
      namespaces: spaces,
    }));
}

const nameOf = (index: number): string => `n${index}`;

function labelsOf({ zone, rack: at, isGold }: Site, index: number): Record<string, string> {
  return {
    [labels.hostname]: nameOf(index),
    [labels.zone]: zone,
    ...(at === undefined ? {} : { [rack]: at }),
    ...(isGold ? { [tier]: 'gold' } : {}),
  };
}

function taintsOf({ isDedicated }: Site): Taint[] {
  return [taints.kraftlet, ...(isDedicated ? [dedicated] : [])];
}

function nodeOf(one: Site, index: number): NodeInSight[] {
  if (one.kind === 'closed') return [];
  const allocatable = { cpu: `${one.cpu}`, memory: '16Gi', pods: '10' };
  const isTaken = one.kind === 'node' && one.bound.length > 0;
  return [
    {
      name: nameOf(index),
      kind: one.kind,
      labels: labelsOf(one, index),
      taints: taintsOf(one),
      allocatable,
      requested: {},
      empty: !isTaken,
    },
  ];
}

function closedOf(one: Site, index: number): ClosedNode[] {
  if (one.kind !== 'closed') return [];
  const all = [...taintsOf(one), cordoned];
  return [{ name: nameOf(index), labels: labelsOf(one, index), taints: all }];
}

function boundTo({ bound: all, kind }: Site, index: number): BoundPod[] {
  if (kind === 'claim') return [];
  return all.map(({ own, namespace, cpu, rules, port }, each) => {
    const resources = { requests: { cpu } };
    const containers = [{ name: 'app', image: 'example.com/app', resources }];
    const plain = { containers, ...ofApp(rules ?? {}, own['app'] ?? '') };
    const pod: Pod = {
      metadata: { namespace, name: `b${index}-${each}`, labels: own },
      spec: { ...withPort(plain, port), terminationGracePeriodSeconds: 0 },
    };
    return { pod, on: nameOf(index) };
  });
}

function poolOf(parts: PoolParts, index: number): PoolInSight {
  const { isGold, isDedicated, isUnwanted, racks: at, weight, nodes, cpu } = parts;
  const limits = {
    ...(nodes === undefined ? {} : { nodes: `${nodes}` }),
    ...(cpu === undefined ? {} : { cpu: `${cpu}` }),
  };
  const own = [
    ...(isDedicated ? [dedicated] : []),
    ...(isUnwanted ? [{ key: 'example.com/unwanted', effect: 'PreferNoSchedule' } as const] : []),
  ];
  const made = pool(`pool-${index}`, {
    sizes: sizesOf(parts),
    labels: isGold ? { [tier]: 'gold' } : {},
    taints: own,
    requirements: at === undefined ? [] : [{ key: rack, operator: 'In', values: at }],
    ...(weight === undefined ? {} : { weight }),
    limits,
  });
  return { ...made, labels: { [labels.virtualKubelet]: 'true' } };
}

/** Three sizes; the largest is sold in one zone only, and the middle one has devices. */
function sizesOf({ zones: sold, pods }: PoolParts): InstanceType[] {
  const sizes = [
    size(2, { zones: sold }),
    size(4, { zones: sold }),
    size(8, { zones: sold.slice(0, 1) }),
  ];
  return sizes.map((one, at) => ({
    ...one,
    capacity: {
      ...one.capacity,
      pods: `${pods}`,
      'ephemeral-storage': '10Gi',
      ...(at === 1 ? { [device]: '2' } : {}),
    },
  }));
}

/**
 * At most four Pods, in words that the judge beside the solver knows. What makes a plan dearer by intent is left out: wishes,
 * kinds of node of which the first is taken that can be had, and labels of a pool that a machine is given one of before it
 * is known what others would like.
 */
export const smallCase: fc.Arbitrary<Problem> = anyCase({ groups: 2, sites: 2, pools: 2 })
  .filter(({ pods }) => pods.length <= 4)
  .map((problem) => JSON.parse(JSON.stringify(problem), plainly) as Problem)
  .map((problem) => ({ ...problem, namespaces: spaces, preferencePolicy: 'Ignore' as const }));

const beyond = new Set(['namespaceSelector', 'matchLabelKeys', 'mismatchLabelKeys']);

/** Rules look into namespaces that are named, and at labels that stand in selectors. */
function plainly(key: string, value: unknown): unknown {
  if (beyond.has(key)) return undefined;
  if (!Array.isArray(value)) return value;
  if (key === 'taints') return value.filter(({ effect }: Taint) => effect !== 'PreferNoSchedule');
  if (key === 'nodeSelectorTerms') return value.slice(0, 1);
  return key === 'requirements' ? value.map(single) : value;
}

function single(one: Requirement): Requirement {
  return { ...one, values: (one.values ?? []).slice(0, 1) };
}
