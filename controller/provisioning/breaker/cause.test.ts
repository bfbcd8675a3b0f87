import { expect, test } from 'vitest';

import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { labels, taints } from '#schemas/names.ts';

import { causesOn, concerns, keyOf } from './cause.ts';

const reserved = { key: 'team', value: 'shop', effect: 'NoSchedule' } as const;
const starts = { key: 'agent', effect: 'NoExecute' } as const;
const own = { [labels.instanceType]: 'm8i.large', team: 'shop' };

const claim: NodeClaim = {
  metadata: { name: 'web-1', labels: own },
  spec: {
    nodeClassRef: { group: 'g', kind: 'k', name: 'default' },
    requirements: [],
    taints: [reserved],
    startupTaints: [starts],
    resources: { requests: { cpu: '2', memory: '4Gi', gpu: '1' } },
  },
  status: { conditions: ['Registered', 'Initialized'].map(isTrue) },
};
const starting = { ...claim, status: { conditions: [isTrue('Registered')] } };

function isTrue(type: string) {
  return { type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' } as const;
}

function node(
  spec: Node['spec'] = {},
  parts: { labels?: Record<string, string>; allocatable?: ResourceList } = {},
): Node {
  const { labels: given = own, allocatable = { cpu: '2', memory: '4Gi', gpu: '1' } } = parts;
  return {
    metadata: { name: 'web-1', labels: given },
    spec: { taints: [taints.kraftlet, reserved], ...spec },
    status: { allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

function pod(spec: Partial<Pod['spec']> = {}, requests: ResourceList = { cpu: '1' }): Pod {
  return { spec: { containers: [{ name: 'app', resources: { requests } }], ...spec } };
}

const keysOn = (seen: Node, of: NodeClaim = claim): string[] => causesOn(of, seen).map(keyOf);

test('a Node that is as its claim promised has none', () => {
  expect(keysOn(node())).toEqual([]);
  expect(keysOn(node({ taints: [taints.kraftlet, reserved, starts] }), starting)).toEqual([]);
});

test('a taint that nobody promised is one, and one that only says it starts or leaves is none', () => {
  const chaos = { key: 'chaos', effect: 'NoExecute' } as const;
  const hint = { key: 'hint', effect: 'PreferNoSchedule' } as const;
  const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;
  const seen = node({ taints: [taints.kraftlet, taints.disrupted, chaos, hint, notReady] });
  expect(keysOn(seen)).toEqual(['taint chaos', 'taint node.kubernetes.io/not-ready']);
  expect(keysOn(seen, starting)).toEqual(['taint chaos']);
});

test('a cordon, and a Node that is not Ready, count as the taints that Kubernetes has for them', () => {
  expect(keysOn(node({ unschedulable: true }))).toEqual(['taint node.kubernetes.io/unschedulable']);
  const gone = { ...node(), status: { ...node().status, conditions: [] } };
  expect(keysOn(gone)).toEqual(['taint node.kubernetes.io/not-ready']);
});

test('a label that was lost concerns those that ask for it', () => {
  const [lost] = causesOn(claim, node({}, { labels: { [labels.instanceType]: 'm8i.large' } }));
  expect(keyOf(lost!)).toBe('label team');
  expect(concerns(lost!, pod({ nodeSelector: { team: 'shop' } }), undefined)).toBe(true);
  expect(concerns(lost!, pod({ nodeSelector: { rack: '1' } }), undefined)).toBe(false);
  expect(concerns(lost!, pod(), undefined)).toBe(false);
});

test('less than was planned onto it concerns those that ask for more on a machine of that size', () => {
  const causes = causesOn(claim, node({}, { allocatable: { cpu: '1500m', memory: '4Gi' } }));
  const [cpu, gpu] = causes;
  expect(causes.map(keyOf)).toEqual(['resource cpu', 'resource gpu']);
  expect(concerns(cpu!, pod({}, { cpu: '2' }), 'm8i.large')).toBe(true);
  expect(concerns(cpu!, pod({}, { cpu: '1500m' }), 'm8i.large')).toBe(false);
  expect(concerns(cpu!, pod({}, { cpu: '2' }), 'm8i.xlarge')).toBe(false);
  expect(concerns(gpu!, pod({}, { gpu: '1' }), 'm8i.xlarge')).toBe(true); // no Node had any
});

test('a taint concerns those that do not tolerate it', () => {
  const chaos = { key: 'chaos', value: 'x', effect: 'NoSchedule' } as const;
  const [cause] = causesOn(claim, node({ taints: [chaos] }));
  expect(concerns(cause!, pod(), undefined)).toBe(true);
  expect(
    concerns(cause!, pod({ tolerations: [{ key: 'chaos', operator: 'Exists' }] }), undefined),
  ).toBe(false);
});
