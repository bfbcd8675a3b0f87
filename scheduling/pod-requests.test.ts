import { describe, expect, test } from 'vitest';

import type { Container, Pod } from '#schemas/kubernetes/core.ts';

import { boundPodRequests, podRequests } from './pod-requests.ts';

const takes = (cpu: string, restartPolicy?: string): Container => ({
  name: 'c',
  resources: { requests: { cpu } },
  ...(restartPolicy ? { restartPolicy } : {}),
});
const cpuOf = (containers: Container[], initContainers: Container[] = []) =>
  podRequests({ containers, initContainers })['cpu'];

test('containers run together, and the Pod is one of the Pods', () => {
  expect(podRequests({ containers: [takes('1'), takes('500m')] })).toEqual({
    cpu: '1500m',
    pods: '1',
  });
});

test('K8: init containers run one after the other, before the rest', () => {
  expect(cpuOf([takes('1')], [takes('3'), takes('2')])).toBe('3');
  expect(cpuOf([takes('4')], [takes('3')])).toBe('4');
});

test('K9: sidecars stay, beside later init containers and beside the rest', () => {
  expect(cpuOf([takes('1')], [takes('1', 'Always'), takes('3')])).toBe('4');
  expect(cpuOf([takes('1')], [takes('3'), takes('1', 'Always')])).toBe('3');
  expect(cpuOf([takes('3')], [takes('3'), takes('1', 'Always')])).toBe('4');
});

test('K10: what is said for the whole Pod replaces the sum, overhead comes on top', () => {
  const spec = {
    containers: [{ name: 'c', resources: { requests: { cpu: '1', 'example.com/gpu': '2' } } }],
    resources: { requests: { cpu: '3' } },
    overhead: { cpu: '250m', memory: '64Mi' },
  };
  expect(podRequests(spec)).toEqual({
    cpu: '3250m',
    memory: '64Mi',
    'example.com/gpu': '2',
    pods: '1',
  });
});

test('a limit stands in for a request that is absent', () => {
  const container = {
    name: 'c',
    resources: { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } },
  };
  expect(podRequests({ containers: [container] })).toEqual({ cpu: '1', memory: '1Gi', pods: '1' });
});

describe('a Pod that is resized in place', () => {
  const resized = (asked: string, granted?: string, had?: string, reason?: string): Pod => ({
    spec: { containers: [takes(asked)] },
    status: {
      containerStatuses: [
        {
          name: 'c',
          ready: true,
          ...(granted === undefined ? {} : { allocatedResources: { cpu: granted } }),
          ...(had === undefined ? {} : { resources: { requests: { cpu: had } } }),
        },
      ],
      ...(reason === undefined
        ? {}
        : { conditions: [{ type: 'PodResizePending', status: 'True', reason }] }),
    },
  });

  test.each([
    ['what it asks for while that is more', resized('3', '2', '2'), '3'],
    ['what it still has while it shrinks', resized('1', '1', '2'), '2'],
    ['what it was granted before it has it', resized('1', '4'), '4'],
    ['what it has when more cannot be granted', resized('9', '2', '1', 'Infeasible'), '2'],
    ['what it asks for while more is put off', resized('9', '2', '2', 'Deferred'), '9'],
    ['what it asks for when its node says nothing', resized('2'), '2'],
  ])('takes %s', (_, pod, cpu) => {
    expect(boundPodRequests(pod)).toEqual({ cpu, pods: '1' });
  });
});
