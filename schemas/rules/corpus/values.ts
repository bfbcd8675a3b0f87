import fc from 'fast-check';

import { group, labels, nodeClassKind, taints } from '../../names.ts';

/** Names that JavaScript finds on every object, and that any label may have. */
export const namesOfJavaScript = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'] as const;

/** It is no name of a label, but a map of a custom resource takes it for a key. */
export const prototypeName = '__proto__';

/** A record whose keys may be {@link prototypeName}: written as own, never into the prototype. */
export function mapOf<T>(
  keys: readonly string[],
  value: fc.Arbitrary<T>,
  maxLength = 4,
): fc.Arbitrary<Record<string, T>> {
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom(...keys), value), { selector: ([key]) => key, maxLength })
    .map((entries) => Object.fromEntries(entries));
}

/** The fields that are there, of those that may be; undefined never stands for absent. */
export function someOf<T extends object>(fields: {
  [K in keyof T]: fc.Arbitrary<T[K]>;
}): fc.Arbitrary<Partial<T>> {
  return fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
}

/** Spellings of durations that the patterns of Karpenter's CRD let pass. */
export const anyDuration = fc.constantFrom(
  '0s',
  '0h0m',
  '00m',
  '1s',
  '30s',
  '5m',
  '05m',
  '9m59s',
  '9m60s',
  '10m',
  '600s',
  '1h',
  '1h30m',
  '720h',
  '8760h',
);

export const anyQuantity = fc.constantFrom(
  '0',
  '1',
  '4',
  '0.5',
  '100m',
  '1k',
  '1e3',
  '33',
  '4096',
  '4097',
  '512Ki',
  '1Mi',
  '128Mi',
  '1Gi',
  '1.5Gi',
  '64Ti',
  '65Ti',
  '100Pi',
);

export const anyNodeClassRef = fc.oneof(
  { weight: 12, arbitrary: fc.constant({ group, kind: nodeClassKind, name: 'default' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      group: fc.constantFrom(group, 'karpenter.k8s.aws', 'karpenter.unikraft.io'),
      kind: fc.constantFrom(nodeClassKind, 'EC2NodeClass', 'NodeClass'),
      name: fc.constantFrom('default', 'Default', 'a.b-c', 'a'.repeat(63), 'a'.repeat(64), '-a'),
    }),
  },
);

export const anyTaint = fc.record(
  {
    key: fc.constantFrom(
      'team',
      'example.com/team',
      taints.kraftlet.key,
      taints.unregistered.key,
      'karpenter.sh/disrupted',
      'constructor',
    ),
    effect: fc.constantFrom(
      'NoSchedule' as const,
      'PreferNoSchedule' as const,
      'NoExecute' as const,
    ),
    value: fc.constantFrom('ukc', 'a', 'b'),
  },
  { requiredKeys: ['key', 'effect'] },
);

export const labelKeys = [
  ...namesOfJavaScript,
  'team',
  'example.com/team',
  labels.instanceFamily,
  labels.capacityType,
  labels.zone,
  'app.kubernetes.io/instance',
  'argocd.argoproj.io/tracking-id',
  labels.nodeClass,
  labels.inject,
];

export const anyLabelValue = fc.constantFrom(
  'a',
  'b',
  '',
  'spot',
  'on-demand',
  'true',
  'x'.repeat(63),
);
