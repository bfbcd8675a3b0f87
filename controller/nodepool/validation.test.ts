import { expect, test } from 'vitest';

import type { MachineTemplate } from '#schemas/karpenter/types.ts';
import { taints } from '#schemas/names.ts';

import { nodePool, ourRef } from '../testing/objects.ts';
import { mistakesOf } from './validation.ts';

const mistakesIn = (
  spec: Partial<MachineTemplate>,
  labels: Record<string, string> = {},
): string[] =>
  mistakesOf(
    nodePool({
      template: { metadata: { labels }, spec: { nodeClassRef: ourRef, requirements: [], ...spec } },
    }),
  );

test('an ordinary pool has no mistakes', () => {
  const spec: Partial<MachineTemplate> = {
    requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] }],
    taints: [{ key: 'example.com/dedicated', value: 'shop', effect: 'NoSchedule' }],
    startupTaints: [{ key: 'example.com/dedicated', effect: 'NoExecute' }],
  };
  expect(mistakesIn({ taints: [taints.kraftlet] })).toEqual([]); // what every Node has anyway
  expect(mistakesIn(spec, { constructor: 'yes', team: '' })).toEqual([]);
});

test('a pool that can only be spot would never get a machine', () => {
  const [mistake, ...others] = mistakesIn({
    requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }],
  });
  expect(mistake).toMatch(/^spec\.template\.spec\.requirements\[0\].*\(KPU101\)$/);
  expect(others).toEqual([]);
});

test.each([
  [
    'the same taint twice',
    { taints: [taint('a')], startupTaints: [taint('a')] },
    {},
    'stand twice in taints and startupTaints',
  ],
  [
    'the vendor’s taint with another value',
    { taints: [{ ...taints.kraftlet, value: 'azure' }] },
    {},
    'give it the value ukc',
  ],
  [
    'the vendor’s taint as one that goes',
    { startupTaints: [taints.kraftlet] },
    {},
    'as a startup taint it would never go',
  ],
  ['a taint of Karpenter itself', { taints: [taints.unregistered] }, {}, 'would never open'],
  [
    'a taint key that is no name',
    { taints: [taint('-a')] },
    {},
    'spec.template.spec.taints[0].key: "-a"',
  ],
  [
    'a taint value that is none',
    { taints: [{ ...taint('a'), value: 'x y' }] },
    {},
    'taints[0].value: "x y"',
  ],
  ['a label key with two slashes', {}, { 'a/b/c': '' }, 'labels["a/b/c"]'],
  ['a label value that is too long', {}, { a: 'x'.repeat(64) }, 'is no valid label value'],
  [
    "the pool's own label",
    {},
    { 'karpenter.sh/nodepool': 'web' },
    'spec.template.metadata.labels: ',
  ],
  [
    'a requirement on it',
    { requirements: [{ key: 'karpenter.sh/nodepool', operator: 'In' as const, values: ['web'] }] },
    {},
    'requirements[0]: ',
  ],
])('%s is told with its place', (_, spec, labels, text) => {
  const mistakes = mistakesIn(spec, labels);
  expect(mistakes).toHaveLength(1);
  expect(mistakes[0]).toContain(text);
});

function taint(key: string): { key: string; effect: 'NoSchedule' } {
  return { key, effect: 'NoSchedule' };
}

test.each(['1e1.5', '1e9223372036854775808'])(
  'a limit of %s is no number to reckon with',
  (cpu) => {
    const [mistake, ...others] = mistakesOf(nodePool({ limits: { cpu, memory: '64Gi' } }));
    expect(mistake).toMatch(/^spec\.limits\.cpu: ".*" is no quantity: .* Write it like/);
    expect(others).toEqual([]);
  },
);

test.each(['1e999', '1e9999'])('a limit of %s is as good as none, and no mistake', (cpu) => {
  expect(mistakesOf(nodePool({ limits: { cpu, memory: '64Gi' } }))).toEqual([]);
});

test('a name that is too long for a label is told before its first claim is refused', () => {
  expect(mistakesOf(nodePool({}, 'p'.repeat(63)))).toEqual([]);
  expect(mistakesOf(nodePool({}, 'p'.repeat(64)))).toEqual([
    expect.stringMatching(/^metadata\.name: .* at most 63 characters \(KPU343\)$/),
  ]);
});
