import fc from 'fast-check';
import { applyPatch } from 'rfc6902';
import { expect, test } from 'vitest';

import { labels, taints } from '#schemas/names.ts';

import { injectInto } from './injection.ts';
import type { PatchOperation } from './review.ts';

/** The patch against any Pod, applied by somebody else's implementation of RFC 6902. */

interface AnyPod {
  metadata: Record<string, unknown>;
  spec: {
    nodeSelector?: Record<string, string> | null;
    tolerations?: Record<string, unknown>[] | null;
  };
}

const selector = labels.virtualKubelet;

/** Names that trip code up: those with escapes of JSON pointers, those that every JavaScript object has. */
const name = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'a/b', 'a~b', 'a~1b', '~0', '', '-'),
  fc.constantFrom(selector, labels.inject, labels.os, 'kubernetes.io/hostname'),
  fc.string(),
);
const map = (values: fc.Arbitrary<string>) =>
  fc
    .uniqueArray(fc.tuple(name, values), { selector: ([key]) => key, maxLength: 5 })
    // as JSON.parse makes it: `__proto__` is a name like others
    .map(
      (entries) =>
        JSON.parse(
          `{${entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join()}}`,
        ) as Record<string, string>,
    );

const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.option(fc.option(arbitrary, { nil: null }), { nil: undefined });

const toleration = fc.record(
  {
    key: fc.constantFrom(taints.kraftlet.key, 'example.com/key', ''),
    operator: fc.constantFrom('Equal', 'Exists', ''),
    value: fc.constantFrom(taints.kraftlet.value, 'azure', ''),
    effect: fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule', ''),
    tolerationSeconds: fc.integer(),
  },
  { requiredKeys: [] },
);

const pod: fc.Arbitrary<AnyPod> = fc
  .record({
    metadata: fc.record({
      name: fc.string(),
      labels: maybe(map(fc.constantFrom('true', 'false', 'x'))),
      annotations: maybe(map(fc.string())),
    }),
    spec: fc.record({
      containers: fc.array(fc.record({ name: fc.string(), args: fc.array(fc.string()) })),
      nodeSelector: maybe(map(fc.constantFrom('true', 'false', 'linux'))),
      tolerations: maybe(fc.array(toleration, { maxLength: 4 })),
    }),
    status: fc.anything({ maxDepth: 2, withBigInt: false }),
  })
  .map((object) => JSON.parse(JSON.stringify(object)) as AnyPod);

function patchFor(object: AnyPod): readonly PatchOperation[] {
  const kind = { group: '', version: 'v1', kind: 'Pod' };
  const decision = injectInto({ uid: 'u', operation: 'CREATE', kind, object });
  return decision.allowed ? (decision.patch ?? []) : [];
}

function applied(object: AnyPod, patch: readonly PatchOperation[]): AnyPod {
  const result = JSON.parse(JSON.stringify(object)) as AnyPod;
  expect(applyPatch(result, structuredClone([...patch]))).toEqual(patch.map(() => null));
  return result;
}

/** Bytes of all that no patch may touch; of the two that it may, what was there before. */
function untouched(object: AnyPod, before: AnyPod): string {
  const { nodeSelector, tolerations, ...spec } = object.spec;
  const { [selector]: _, ...otherSelectors } = nodeSelector ?? {};
  const present = (tolerations ?? []).slice(0, before.spec.tolerations?.length ?? 0);
  return JSON.stringify([{ ...object, spec }, Object.entries(otherSelectors), present]);
}

const sometimesAsking = fc.tuple(pod, fc.boolean()).map(([object, asks]) => {
  if (asks) object.metadata['labels'] = { [labels.inject]: 'true' };
  return object;
});

test('A15, B1, B2, B3: the patch always applies, adds the two and nothing else, and a second call has nothing to add', () => {
  const patched = { count: 0 };
  fc.assert(
    fc.property(sometimesAsking, (before) => {
      const patch = patchFor(before);
      const after = applied(before, patch);

      expect(untouched(after, before)).toBe(untouched(before, before));
      expect(patchFor(after)).toEqual([]);
      if (patch.length === 0) return;
      patched.count += 1;
      expect(after.spec.nodeSelector?.[selector]).toBe('true');
      expect(after.spec.tolerations?.some(coversTaint)).toBe(true);
    }),
    { numRuns: 2000 },
  );
  expect(patched.count).toBeGreaterThan(200);
});

test('the review itself is not changed', () => {
  fc.assert(
    fc.property(sometimesAsking, (object) => {
      const before = JSON.stringify(object);
      patchFor(object);
      expect(JSON.stringify(object)).toBe(before);
    }),
  );
});

/** As kube-scheduler judges it. Source: Kubernetes, "Taints and Tolerations". */
function coversTaint(one: Record<string, unknown>): boolean {
  const effect = !one['effect'] || one['effect'] === taints.kraftlet.effect;
  const keyed = one['key'] === taints.kraftlet.key;
  if (one['operator'] === 'Exists') return effect && (keyed || !one['key']);
  return effect && keyed && one['value'] === taints.kraftlet.value;
}
