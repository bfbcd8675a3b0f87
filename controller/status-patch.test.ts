import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { nodePools, type NodePool } from '#schemas/karpenter/types.ts';

import { mergeDiff, patchStatus } from './status-patch.ts';
import { memoryContext } from './testing/context.ts';
import { patched } from './testing/patching.ts';

describe('the difference of two statuses', () => {
  test('is nothing when they are equal, so nothing is written', () => {
    expect(mergeDiff({ a: [1], b: { c: 'x' } }, { b: { c: 'x' }, a: [1] })).toBeUndefined();
  });

  test('takes away what is gone, inside maps too, and replaces lists whole', () => {
    const before = { resources: { cpu: '1', 'example.com/gpu': '2' }, list: [1, 2], nodes: 3 };
    const after = { resources: { cpu: '1' }, list: [2], nodes: undefined };
    expect(mergeDiff(before, after)).toEqual({
      resources: { 'example.com/gpu': null },
      list: [2],
      nodes: null,
    });
  });

  test('applied as a merge patch always gives the wanted status', () => {
    const leaf = fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer(), { maxLength: 3 }));
    const key = fc.constantFrom('a', 'b', 'c');
    const status = fc.dictionary(key, fc.oneof(leaf, fc.dictionary(key, leaf)));
    fc.assert(
      fc.property(status, status, (before, after) => {
        const live = { metadata: { name: 'x', uid: 'u', resourceVersion: '1' }, status: before };
        const body = { status: mergeDiff(before, after) ?? {} };
        const result = patched(nodePools, live as never, { type: 'merge', body });
        expect(result.status).toEqual(after);
      }),
    );
  });
});

test('a status that was written meanwhile is not overwritten', async () => {
  const { client } = memoryContext();
  const pool: NodePool = {
    metadata: { name: 'batch' },
    spec: {
      template: {
        spec: { nodeClassRef: { group: 'g', kind: 'K', name: 'n' }, requirements: [] },
      },
    },
  };
  const read = client.seed(nodePools, pool);
  await patchStatus(client, nodePools, read, { nodes: 1 });
  await expect(patchStatus(client, nodePools, read, { nodes: 2 })).rejects.toThrow(/modified/);
  expect(client.peek(nodePools, { name: 'batch' })?.status?.nodes).toBe(1);
});
