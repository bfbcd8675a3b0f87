import { expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';

import { pod } from '../../testing/objects.ts';
import { podTrouble } from './pod-trouble.ts';

const waiting = (reason: string | undefined, message?: string): Partial<Pod> => ({
  status: {
    containerStatuses: [
      { name: 'init', state: { running: {} } },
      {
        name: 'kraftlet',
        image: 'registry.example.com/kraftlet:0.6.0',
        state: { waiting: { ...(reason && { reason }), ...(message && { message }) } },
      },
    ],
  },
});

test('a Pod without a node says why it has none', () => {
  const message = '0/3 nodes are available: 3 Insufficient memory';
  const conditions = [
    { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message },
  ];
  expect(podTrouble(pod('web-1-0', { status: { conditions } }))).toEqual({
    reason: 'KraftletPodUnschedulable',
    message: `Kraftlet Pod web-1-0: ${message} (KPU327)`,
  });
});

test.each(['ErrImagePull', 'ImagePullBackOff', 'CrashLoopBackOff', 'CreateContainerConfigError'])(
  'a container in %s is trouble, in the words of its node',
  (reason) => {
    expect(podTrouble(pod('web-1-0', waiting(reason, 'back-off 10s')))).toEqual({
      reason: `Kraftlet${reason}`,
      message: 'Kraftlet Pod web-1-0: back-off 10s (KPU327)',
    });
  },
);

test('a container without words of its own is told with its image', () => {
  expect(podTrouble(pod('web-1-0', waiting('InvalidImageName')))?.message).toContain(
    'image registry.example.com/kraftlet:0.6.0',
  );
});

test('what passes by itself is no trouble', () => {
  expect(podTrouble(pod('web-1-0'))).toBeUndefined();
  expect(podTrouble(pod('web-1-0', waiting('ContainerCreating')))).toBeUndefined();
  expect(podTrouble(pod('web-1-0', waiting(undefined)))).toBeUndefined();
});
