import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { MachineTemplate, NodePool } from '#schemas/karpenter/types.ts';

import { nodePool, ourRef } from '../testing/objects.ts';
import { nodePoolHash } from './hash.ts';

function withTemplate(
  spec: Partial<MachineTemplate>,
  metadata: NodePool['spec']['template']['metadata'] = {},
): NodePool {
  const template = { metadata, spec: { nodeClassRef: ourRef, requirements: [], ...spec } };
  return nodePool({ template });
}

const plain = nodePoolHash(nodePool());

describe('a template that makes the same machines has the same hash', () => {
  test.each([
    ['expiry spelled out as the default', withTemplate({ expireAfter: '720h' })],
    ['expiry in other units', withTemplate({ expireAfter: '43200m' })],
    ['empty lists and maps', withTemplate({ taints: [], startupTaints: [] }, { labels: {} })],
    [
      'other requirements, which are compared with each machine itself',
      withTemplate({ requirements: [{ key: 'a', operator: 'Exists' }] }),
    ],
    [
      'other limits, weight and disruption',
      nodePool({ limits: { cpu: '10' }, weight: 3, disruption: { consolidateAfter: '5s' } }),
    ],
  ])('%s', (_, pool) => {
    expect(nodePoolHash(pool)).toBe(plain);
  });

  test('taints in any order', () => {
    const taint = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      value: fc.constantFrom('x', 'y'),
      effect: fc.constantFrom('NoSchedule' as const, 'NoExecute' as const),
    });
    const shuffled = fc
      .array(taint, { maxLength: 5 })
      .chain((taints) =>
        fc.tuple(fc.constant(taints), fc.shuffledSubarray(taints, { minLength: taints.length })),
      );
    fc.assert(
      fc.property(shuffled, ([taints, others]) => {
        expect(nodePoolHash(withTemplate({ taints }))).toBe(
          nodePoolHash(withTemplate({ taints: others })),
        );
      }),
    );
  });
});

describe('a template that makes other machines has another hash', () => {
  test.each([
    ['labels', withTemplate({}, { labels: { team: 'shop' } })],
    ['a label without a value', withTemplate({}, { labels: { team: '' } })],
    ['annotations', withTemplate({}, { annotations: { note: 'x' } })],
    ['taints', withTemplate({ taints: [{ key: 'a', effect: 'NoSchedule' }] })],
    [
      'the same as startup taints',
      withTemplate({ startupTaints: [{ key: 'a', effect: 'NoSchedule' }] }),
    ],
    ['node class', withTemplate({ nodeClassRef: { ...ourRef, name: 'other' } })],
    ['expiry', withTemplate({ expireAfter: '24h' })],
    ['no expiry', withTemplate({ expireAfter: 'Never' })],
    ['termination grace', withTemplate({ terminationGracePeriod: '1h' })],
  ])('%s', (_, pool) => {
    expect(nodePoolHash(pool)).not.toBe(plain);
  });
});
