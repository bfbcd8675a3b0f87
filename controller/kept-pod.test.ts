import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { ShapeReader } from '#kube/shapes/shape-reader.ts';
import { solve } from '#scheduling/solve.ts';
import { anyProblem } from '#scheduling/testing/arbitrary.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';

import { keptPod } from './kept-pod.ts';
import { takenAway } from './provisioning/breaker/placement.ts';

const reader = new ShapeReader(keptPod);
const keptOf = (pod: Pod): Pod => reader.fromJson(pod);

describe('of a Pod', () => {
  test('what would make each one different is not kept', () => {
    const kept = keptOf({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web-1',
        managedFields: [{ manager: 'kubelet' }],
        annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'example.com/seen': 'now' },
      },
      spec: {
        containers: [
          {
            name: 'web',
            image: 'web:1',
            env: [{ name: 'TOKEN', value: 'secret' }],
            ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 8081 }],
            volumeMounts: [{ name: 'kube-api-access-x1', mountPath: '/token' }],
          },
        ],
        volumes: [
          { name: 'kube-api-access-x1', projected: {} },
          { name: 'data', persistentVolumeClaim: { claimName: 'data-0' } },
        ],
      },
      status: { podIP: '10.0.0.1', containerStatuses: [{ name: 'web', restartCount: 3 }] },
    });
    expect(kept).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web-1', annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
      spec: {
        containers: [{ name: 'web', ports: [{ containerPort: 81, hostPort: 8081 }] }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-0' } }],
      },
      status: {},
    });
  });

  test('why its container waits, and what it was given, is kept', () => {
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    const given = { resources: { requests: { cpu: '2' } }, allocatedResources: { cpu: '1' } };
    const { status } = keptOf({
      status: {
        conditions: [
          { type: 'Ready', status: 'False' },
          { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' },
        ],
        containerStatuses: [
          { name: 'one', image: 'one:1', ready: false, state: { waiting } },
          { name: 'two', ready: true, state: { running: {} }, ...given },
        ],
      },
    });
    expect(status).toEqual({
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' },
      ],
      containerStatuses: [
        { name: 'one', image: 'one:1', state: { waiting } },
        { name: 'two', ...given },
      ],
    });
  });
});

test.each<NonNullable<Pod['status']>>([
  { phase: 'Failed', reason: 'QuotaExceeded', message: 'only 2Gi left' },
  {
    conditions: [
      { type: 'DisruptionTarget', status: 'True', reason: 'Evicted', message: 'by the API' },
    ],
  },
])('who took it away is kept, as %o', (status) => {
  expect(takenAway(keptOf({ status }))).toBe(takenAway({ status }));
  expect(takenAway({ status })).toContain(status.message ?? 'by the API');
});

test('the solver plans the same with what is kept as with the whole', () => {
  fc.assert(
    fc.property(anyProblem, (problem) => {
      const kept = {
        ...problem,
        pods: problem.pods.map(keptOf),
        ...(problem.bound && {
          bound: problem.bound.map((one) => ({ ...one, pod: keptOf(one.pod) })),
        }),
      };
      expect(solve(kept)).toEqual(solve(problem));
    }),
    { numRuns: 50 },
  );
}, 20_000);
