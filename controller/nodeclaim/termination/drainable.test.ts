import { expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';
import { toTimestamp } from '#schemas/time/system-clock.ts';

import { pod } from '../../testing/objects.ts';
import { graceOf, isInTheWay, isStuck } from './drainable.ts';

const clock = new FakeClock();
const ago = (duration: number): string => toTimestamp(clock.now() - duration);
const owned = (kind: string): Partial<Pod> => ({
  metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'x', uid: 'x' }] },
});
const tolerating = (...tolerations: NonNullable<NonNullable<Pod['spec']>['tolerations']>) => ({
  spec: { containers: [], tolerations },
});
const deleted = (deletionTimestamp: string): Partial<Pod> => ({ metadata: { deletionTimestamp } });

test.each<[string, Partial<Pod>, boolean]>([
  ['that runs', {}, true],
  ['that waits to run', { status: { phase: 'Pending' } }, true],
  ['of a ReplicaSet', owned('ReplicaSet'), true],
  ['that is done', { status: { phase: 'Succeeded' } }, false],
  ['that failed', { status: { phase: 'Failed' } }, false],
  ['of a DaemonSet', owned('DaemonSet'), false],
  [
    'that a kubelet mirrors from a file',
    { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } },
    false,
  ],
  ['that tolerates everything', tolerating({ operator: 'Exists' }), false],
  ['that tolerates the disrupted taint', tolerating({ key: 'karpenter.sh/disrupted' }), false],
  [
    'that tolerates it for another value',
    tolerating({ key: 'karpenter.sh/disrupted', operator: 'Equal', value: 'other' }),
    true,
  ],
  [
    'that tolerates it with another effect',
    tolerating({ key: 'karpenter.sh/disrupted', operator: 'Exists', effect: 'NoExecute' }),
    true,
  ],
  ['that tolerates Kraftlet', tolerating({ key: 'virtual-kubelet.io/provider' }), true],
  ['that is leaving', deleted(ago(-seconds(20))), true],
  ['that should have left a minute ago', deleted(ago(seconds(60))), true],
  ['that should have left longer ago', deleted(ago(seconds(61))), false],
])('a Pod %s: in the way is %s', (_, rest, expected) => {
  expect(isInTheWay(pod('p', rest), clock)).toBe(expected);
});

test('a Pod is stuck once its end is more than a minute past', () => {
  expect(isStuck(pod('p'), clock)).toBe(false);
  expect(isStuck(pod('p', deleted(ago(seconds(60)))), clock)).toBe(false);
  expect(isStuck(pod('p', deleted(ago(seconds(61)))), clock)).toBe(true);
});

test('a Pod has the grace it asks for, and half a minute otherwise', () => {
  expect(graceOf(pod('p'))).toBe(seconds(30));
  const spec = { containers: [], terminationGracePeriodSeconds: 0 };
  expect(graceOf(pod('p', { spec }))).toBe(0);
});
