import { expect, test } from 'vitest';

import type { Requirement } from '#schemas/karpenter/types.ts';
import { labels } from '#schemas/names.ts';

import { misfitOf } from './misfit.ts';
import { solve } from './solve.ts';
import { pod, pool } from './testing/build.ts';

const has = (key: string, ...values: string[]): Requirement => ({ key, operator: 'In', values });

test.each<[string, Requirement[], string | undefined]>([
  ['nothing', [], undefined],
  ['what some size has', [has(labels.arch, 'amd64', 'arm64'), has(labels.zone, '1b')], undefined],
  [
    'another architecture',
    [has(labels.zone, '1a'), has(labels.arch, 'arm64')],
    'kubernetes.io/arch In [arm64]; they have amd64',
  ],
  [
    'a zone without a subnet',
    [has(labels.zone, '9z')],
    'topology.kubernetes.io/zone In [9z]; they have 1a, 1b',
  ],
  [
    'two things that no size has both of',
    [has(labels.instanceVcpus, '2'), has(labels.instanceType, 'm.8', 'm.4')],
    'karpenter.unikraft.com/instance-vcpus In [2] together with node.kubernetes.io/instance-type In [m.8, m.4]',
  ],
])('a pool that asks for %s', (_, requirements, told) => {
  const message = misfitOf(pool('web', { requirements }));
  expect(message).toBe(told && `no instance type of its node class has ${told}`);
});

test('a Pod that asks for what no size has is told which', () => {
  const asking = pod('a', {}, { nodeSelector: { [labels.arch]: 'arm64' } });
  const problem = { pods: [asking], pools: [pool('web')], nodes: [], daemonSets: [] };
  expect(solve(problem).unschedulable.get('shop/a')).toEqual([
    {
      pool: 'web',
      reason: 'InstanceTypes',
      message:
        'no instance type of its node class has kubernetes.io/arch In [arm64]; they have amd64',
    },
  ]);
});
