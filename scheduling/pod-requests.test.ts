import { expect, test } from 'vitest';

import type { Container } from '#schemas/kubernetes/core.ts';

import { podRequests } from './pod-requests.ts';

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

test('init containers run one after the other, before the rest', () => {
  expect(cpuOf([takes('1')], [takes('3'), takes('2')])).toBe('3');
  expect(cpuOf([takes('4')], [takes('3')])).toBe('4');
});

test('sidecars stay, beside later init containers and beside the rest', () => {
  expect(cpuOf([takes('1')], [takes('1', 'Always'), takes('3')])).toBe('4');
  expect(cpuOf([takes('1')], [takes('3'), takes('1', 'Always')])).toBe('3');
  expect(cpuOf([takes('3')], [takes('3'), takes('1', 'Always')])).toBe('4');
});

test('what is said for the whole Pod replaces the sum, overhead comes on top', () => {
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
