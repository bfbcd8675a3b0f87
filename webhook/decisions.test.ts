import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { capacityType, pool } from '#schemas/rules/samples.ts';

import { hooks } from './hooks.ts';
import type { AdmissionRequest } from './review.ts';

/** What holds for every hook, whatever it decides. */

const root = fileURLToPath(new URL('..', import.meta.url));
const all = Object.entries(hooks({ excludedNamespaces: [] }));

/** Files that a module needs, its own and those that they need, and the packages. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(file, 'utf8').replaceAll(/^import type [^;]*;/gm, '');
  for (const [, name = ''] of text.matchAll(/from '([^']+)'/g)) {
    if (name.startsWith('#')) importsOf(resolve(root, name.slice(1)), seen);
    else if (name.startsWith('.')) importsOf(resolve(dirname(file), name), seen);
    else seen.add(name);
  }
  return seen;
}

test('A10: a decision reaches nothing: no client, no file, no process, no network', () => {
  const needed = [...importsOf(resolve(root, 'webhook/hooks.ts'))];
  const files = needed.filter((one) => one.startsWith(root)).map((one) => relative(root, one));
  const packages = needed.filter((one) => !one.startsWith('/'));
  expect(files.filter((file) => !/^(webhook|schemas)\//.test(file))).toEqual([]);
  expect(packages.toSorted()).toEqual(['@marcbachmann/cel-js', 'node:util']);
});

test('A13: no pattern is made of what a user wrote', () => {
  const files = [...importsOf(resolve(root, 'webhook/hooks.ts'))].filter((one) =>
    one.startsWith(root),
  );
  expect(files.filter((file) => readFileSync(file, 'utf8').includes('RegExp('))).toEqual([]);
});

describe.each(all)('%s', (_, { decide }) => {
  const spot = pool([capacityType('In', 'spot')]);
  const request = (operation: AdmissionRequest['operation']): AdmissionRequest => ({
    uid: 'u',
    kind: { group: 'karpenter.sh', version: 'v1', kind: 'NodePool' },
    operation,
    object: operation === 'DELETE' || operation === 'CONNECT' ? null : spot,
    oldObject: operation === 'CREATE' || operation === 'CONNECT' ? null : spot,
  });

  test.each(['DELETE', 'CONNECT'] as const)('B8: lets %s pass, without a patch', (operation) => {
    expect(decide(request(operation))).toEqual({ allowed: true });
  });

  test('B22: never stumbles over an operation', () => {
    for (const operation of ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const) {
      expect(typeof decide(request(operation)).allowed).toBe('boolean');
    }
  });
});

describe('A7, A8, A9: a pool that cannot work is refused', () => {
  const validate = hooks({ excludedNamespaces: [] })['/validate']?.decide;
  const spot = pool([capacityType('In', 'spot')]);
  const asked = (metadata: object, oldObject: object | null = null) =>
    validate?.({
      uid: 'u',
      kind: { group: 'karpenter.sh', version: 'v1', kind: 'NodePool' },
      operation: oldObject ? 'UPDATE' : 'CREATE',
      object: { ...spot, metadata: { name: 'x', ...metadata } },
      oldObject,
    });

  test.each([
    ['that says who manages it', { labels: { 'app.kubernetes.io/managed-by': 'karpenter' } }],
    [
      'that says who owns it',
      { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] },
    ],
    ['that has an annotation of ours', { annotations: { 'karpenter.unikraft.com/revision': '1' } }],
    ['that is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] }],
  ])('also one %s', (_, metadata) => {
    expect(asked(metadata)).toMatchObject({ allowed: false });
  });

  test('by what it is now, whatever is said of what it was', () => {
    const other = { ...spot, spec: { ...spot.spec, weight: 7 } };
    expect(asked({}, other)).toMatchObject({ allowed: false });
    expect(asked({}, { kind: 'NodePool' })).toMatchObject({ allowed: false });
  });

  test('B6: but not for an update that leaves its spec as it is', () => {
    expect(asked({ finalizers: [] }, spot)).toEqual({ allowed: true });
  });
});
