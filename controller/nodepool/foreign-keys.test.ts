import { expect, test } from 'vitest';

import type { Requirement } from '#schemas/karpenter/types.ts';

import { nodePool, ourRef } from '../testing/objects.ts';
import { mistakesOf } from './validation.ts';

const mistakesIn = (requirement: Requirement, labels: Record<string, string> = {}): string[] => {
  const spec = { nodeClassRef: ourRef, requirements: [requirement] };
  return mistakesOf(nodePool({ template: { metadata: { labels }, spec } }));
};
const asks = (key: string, operator: Requirement['operator'] = 'In'): Requirement =>
  operator === 'Exists' || operator === 'DoesNotExist'
    ? { key, operator }
    : { key, operator, values: ['4'] };

test.each([
  ['karpenter.k8s.aws/instance-family', 'use karpenter.unikraft.com/instance-family'],
  ['karpenter.k8s.aws/instance-cpu', 'use karpenter.unikraft.com/instance-vcpus'],
  ['karpenter.azure.com/sku-memory', 'use karpenter.unikraft.com/instance-memory'],
  ['eks.amazonaws.com/instance-hypervisor', 'remove the requirement'],
  ['karpenter.k8s.aws/constructor', 'remove the requirement'],
])('a requirement on %s names the label and the way out: %s', (key, way) => {
  expect(mistakesIn(asks(key))).toEqual([
    `spec.template.spec.requirements[0].key: ${key} is a label of another provider, which no Unikraft machine has; ${way} (KPU104)`,
  ]);
});

test.each([
  ['a label of ours', asks('karpenter.unikraft.com/instance-family'), {}],
  ["a label of the user's own", asks('example.com/instance-family'), {}],
  ['the absence of a foreign one', asks('karpenter.k8s.aws/instance-gpu-name', 'DoesNotExist'), {}],
  ['a foreign value that is excluded', asks('karpenter.k8s.aws/instance-family', 'NotIn'), {}],
  [
    'a foreign label that the template gives',
    asks('karpenter.k8s.aws/instance-cpu'),
    { 'karpenter.k8s.aws/instance-cpu': '4' },
  ],
])('a requirement on %s is fine', (_, requirement, labels) => {
  expect(mistakesIn(requirement, labels)).toEqual([]);
});
