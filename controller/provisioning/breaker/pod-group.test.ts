import { expect, test } from 'vitest';

import type { Pod, PodSpec } from '#schemas/kubernetes/core.ts';

import { groupOf, groupsOf } from './pod-group.ts';

const spec: PodSpec = {
  containers: [{ name: 'app', image: 'web:1', resources: { requests: { cpu: '1' } } }],
  nodeSelector: { team: 'shop' },
};

const pod = (own: Partial<PodSpec> = {}, namespace = 'shop'): Pod => ({
  metadata: { namespace, name: `p-${Math.random()}`, uid: String(Math.random()) },
  spec: { ...spec, ...own },
});

test('Pods that ask the same of a node are of one group, whoever made them', () => {
  const [container] = spec.containers as [PodSpec['containers'][number]];
  const another = { ...container, name: 'job', image: 'web:2', command: ['run'] };
  const volumes = [{ name: 'kube-api-access-x7k2p', projected: {} }];
  const alike = [pod(), pod({ containers: [another] }), pod({ volumes })];
  expect(groupsOf([...alike, undefined])).toEqual([groupOf(alike[0]!)]);
});

test.each<[string, Pod]>([
  ['a selector', pod({ nodeSelector: {} })],
  ['a toleration', pod({ tolerations: [{ key: 'chaos', operator: 'Exists' }] })],
  ['a request', pod({ containers: [{ name: 'app', resources: { requests: { cpu: '2' } } }] })],
  ['a limit', pod({ containers: [{ name: 'app', resources: { limits: { cpu: '1' } } }] })],
  ['a host port', pod({ containers: [{ name: 'a', ports: [{ containerPort: 1, hostPort: 1 }] }] })],
  ['their namespace', pod({}, 'search')],
])('%s tells groups apart', (_, other) => {
  expect(groupOf(other)).not.toBe(groupOf(pod()));
});

test('a group is called the same after a restart', () => {
  expect(groupOf(structuredClone(pod()))).toBe(groupOf(pod()));
  expect(groupOf(pod())).toMatch(/^shop\/[0-9a-f]{10}$/);
});
