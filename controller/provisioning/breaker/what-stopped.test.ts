import { expect, test } from 'vitest';

import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { taints } from '#schemas/names.ts';

import { whatStopped } from './what-stopped.ts';

const open: Node = {
  metadata: { name: 'web-1', labels: { team: 'shop' } },
  spec: { taints: [taints.kraftlet] },
  status: {
    allocatable: { cpu: '4', memory: '10Gi', pods: '2' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};

function node(spec: Node['spec'] = {}, status: Node['status'] = {}): Live<Node> {
  const merged = { spec: { ...open.spec, ...spec }, status: { ...open.status, ...status } };
  return {
    metadata: { ...open.metadata, uid: 'n', resourceVersion: '1' },
    ...merged,
  } as Live<Node>;
}

function pod(requests: ResourceList = { cpu: '1' }, spec: Partial<Pod['spec']> = {}): Pod {
  const tolerations = [{ key: taints.kraftlet.key, operator: 'Exists' as const }];
  return { spec: { containers: [{ name: 'app', resources: { requests } }], tolerations, ...spec } };
}

const chaos = { key: 'chaos', value: 'a', effect: 'NoExecute' } as const;

test.each<[string, Live<Node>, Pod, string]>([
  [
    'a taint',
    node({ taints: [taints.kraftlet, taints.disrupted, chaos] }),
    pod(),
    'Node web-1 has taint chaos=a:NoExecute, which they do not tolerate',
  ],
  ['a cordon', node({ unschedulable: true }), pod(), 'Node web-1 is cordoned'],
  [
    'its health',
    node({}, { conditions: [{ type: 'Ready', status: 'Unknown' }] }),
    pod(),
    'Node web-1 is not Ready',
  ],
  [
    'a label that is not there, named like a property of each object',
    node(),
    pod({}, { nodeSelector: { constructor: 'x' } }),
    'Node web-1 has no label constructor, which they ask for',
  ],
  [
    'a label of another value',
    node(),
    pod({}, { nodeSelector: { team: 'search' } }),
    'Node web-1 has label team=shop, and they ask for another',
  ],
  [
    'a label that is not there',
    node(),
    pod({}, { nodeSelector: { rack: '7' } }),
    'Node web-1 has no label rack, which they ask for',
  ],
  [
    'room',
    node(),
    pod({ cpu: '1', memory: '12Gi' }),
    'Node web-1 has 10Gi memory left, and they ask for 12Gi memory',
  ],
  [
    'what it never had',
    node(),
    pod({ gpu: '1' }),
    'Node web-1 has 0 gpu left, and they ask for 1 gpu',
  ],
])('names %s', (_, seen, wanting, told) => {
  expect(whatStopped(wanting, seen, [])).toBe(told);
});

test('counts what is on the Node, be it more than there is room for', () => {
  const others = [pod({ cpu: '3500m' }), pod({ cpu: '2' })];
  expect(whatStopped(pod(), node(), others.slice(0, 1))).toBe(
    'Node web-1 has 500m cpu left, and they ask for 1 cpu',
  );
  expect(whatStopped(pod(), node(), others)).toBe(
    'Node web-1 has 0 cpu left, and they ask for 1 cpu',
  );
});

test('says nothing of a Node that would do, nor of one that only leaves', () => {
  expect(whatStopped(pod(), node(), [])).toBeUndefined();
  expect(
    whatStopped(pod(), node({ taints: [taints.kraftlet, taints.disrupted] }), []),
  ).toBeUndefined();
});
