import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { NodeClaim } from './karpenter/types.ts';
import { machineName } from './machine-name.ts';

const uid = '3f2a91c0-77b0-4e4d-8a2b-0a9c13ff0000';

function claim(pool: string | undefined, name = 'claim-x7k2p'): NodeClaim {
  return {
    metadata: {
      name,
      uid,
      ...(pool !== undefined && { labels: { 'karpenter.sh/nodepool': pool } }),
    },
    spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'n' }, requirements: [] },
  };
}

test.each([
  ['web', 'web-3f2a91c0'],
  ['a.b.c', 'a-b-c-3f2a91c0'],
  ['2024-batch', 'n2024-batch-3f2a91c0'],
  [`${'p'.repeat(31)}.${'q'.repeat(31)}`, `${'p'.repeat(30)}-3f2a91c0`],
  [`${'p'.repeat(29)}.q`, `${'p'.repeat(29)}-3f2a91c0`],
])('a machine of pool %s is called %s', (pool, name) => {
  expect(machineName(claim(pool))).toBe(name);
});

test('a claim made by hand gives its own name', () => {
  expect(machineName(claim(undefined, 'by-hand'))).toBe('by-hand-3f2a91c0');
});

test('whatever a pool may be called, the name is a short DNS label', () => {
  const part = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      expect(machineName(claim(parts.join('.')))).toMatch(/^[a-z][a-z0-9-]{0,37}[a-z0-9]$/);
    }),
  );
});

test('a claim that was never stored has no machine', () => {
  expect(() => machineName({ ...claim('web'), metadata: { name: 'web-1' } })).toThrow(
    'without name',
  );
});
