import { expect, test } from 'vitest';

import type { Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { seconds } from '#schemas/time/clock.ts';

import { endedStatus, endOf, guestsOf, runningStatus } from './guest.ts';

function podWith(
  containers: PodSpec['containers'],
  annotations: Record<string, string> = {},
): Live<Pod> {
  const identity = { namespace: 'default', name: 'web-0', uid: 'u-1', resourceVersion: '1' };
  return { metadata: { ...identity, annotations }, spec: { containers } };
}

test('a guest pays for the limit, else the request, else the least, rounded up', () => {
  const pod = podWith([
    {
      name: 'a',
      image: 'nginx',
      resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1500m' } },
    },
    { name: 'b', resources: { requests: { cpu: '100m', memory: '100M' } } },
    { name: 'c' },
  ]);
  const sizes = guestsOf(pod, 'web-1').map(({ vcpus, memory_mb }) => [vcpus, memory_mb]);
  expect(sizes).toEqual([
    [2, 1024],
    [1, 96],
    [1, 128],
  ]);
});

test('a Pod may let its guests sleep, and say when it is asked something', () => {
  const pod = podWith([{ name: 'a' }], {
    'cloud.unikraft.v1.instances/scale_to_zero.policy': 'on',
    'sandbox.karpenter.unikraft.com/request-after': '5s',
  });
  expect(guestsOf(pod, 'web-1')).toMatchObject([
    { scale_to_zero: { policy: 'on', cooldown_time_ms: 1000 }, sandbox_request_after_ms: 5000 },
  ]);
  expect(guestsOf(podWith([{ name: 'a' }]), 'web-1')[0]).not.toHaveProperty('scale_to_zero');
});

test('guests are found again by name, and by tags', () => {
  const pod = podWith([{ name: 'a', image: 'nginx' }]);
  const [guest] = guestsOf(pod, 'web-1');
  expect(guestsOf(pod, 'web-1')).toEqual([guest]);
  expect(guest!.tags).toEqual([
    'kraftlet:node=web-1',
    'k8s.io:pod=default.web-0',
    'k8s.io:container=a',
  ]);
  const anew = { ...pod, metadata: { ...pod.metadata, uid: 'u-2' } };
  expect(guestsOf(anew, 'web-1')[0]!.name).not.toBe(guest!.name);
});

test('a running Pod is ready, with an address that endpoints may hold', () => {
  const now = '2026-01-01T00:00:00Z';
  const status = runningStatus(podWith([{ name: 'a' }]), now);
  expect(status).toMatchObject({
    phase: 'Running',
    startTime: now,
    podIP: expect.stringMatching(/^10\.(12[89]|1[3-9]\d|2\d\d)\.\d+\.\d+$/),
    containerStatuses: [{ name: 'a', ready: true, state: { running: { startedAt: now } } }],
  });
  expect(status.conditions).toContainEqual({
    type: 'Ready',
    status: 'True',
    lastTransitionTime: now,
  });
});

test('a Pod may say when and how it ends', () => {
  const well = podWith([], { 'sandbox.karpenter.unikraft.com/succeeds-after': '5s' });
  expect(endOf(well)).toEqual({ phase: 'Succeeded', after: seconds(5) });
  const badly = podWith([], { 'sandbox.karpenter.unikraft.com/fails-after': '1m' });
  expect(endOf(badly)).toEqual({ phase: 'Failed', after: seconds(60) });
  expect(endOf(podWith([]))).toBeUndefined();
});

test('an ended Pod tells the exit of its containers', () => {
  const pod = podWith([{ name: 'a' }]);
  expect(endedStatus(pod, { phase: 'Succeeded' }, '')).toMatchObject({
    phase: 'Succeeded',
    containerStatuses: [
      { ready: false, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
    ],
  });
  expect(endedStatus(pod, { phase: 'Failed', reason: 'QuotaExceeded' }, '')).toMatchObject({
    reason: 'QuotaExceeded',
    containerStatuses: [{ state: { terminated: { exitCode: 1, reason: 'QuotaExceeded' } } }],
  });
});
