/** Pods that the API server takes, and that would have kept all others waiting: each of these once took minutes. */
import { expect, test } from 'vitest';

import type { PodSpec } from '#schemas/kubernetes/core.ts';

import { pod, pods, pool } from './testing/build.ts';
import { groups, planned, refused } from './testing/plans.ts';

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const others = pods(3);

function softly(topologyKey: string): object {
  const labelSelector = { matchLabels: { app: 'web' } };
  return { topologyKey, maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', labelSelector };
}

test('a Pod with a thousand wishes', () => {
  const spec = {
    topologySpreadConstraints: times(1000, (index) => softly(`key-${index}`)),
  } as unknown as Partial<PodSpec>;
  const plan = planned({ pods: [pod('wishful', { cpu: '1' }, spec), ...others] });

  expect(refused(plan)).toEqual([]);
});

test('a Pod that accepts thousands of kinds of node, with as many wishes', () => {
  const term = (key: string, index: number) => ({
    matchExpressions: [{ key, operator: 'In' as const, values: [`${index}`] }],
  });
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: times(3000, (index) => term('team', index)),
    },
    preferredDuringSchedulingIgnoredDuringExecution: times(3000, (index) => ({
      weight: 1,
      preference: term('rack', index),
    })),
  };
  const plan = planned({
    pools: [pool('web'), pool('team', { labels: { team: '2999' } })],
    pods: [pod('choosy', { cpu: '1' }, { affinity: { nodeAffinity } }), ...others],
  });

  expect(refused(plan)).toEqual([]);
});

test('a Pod that spreads over more keys than there is time to try', () => {
  const keys = times(9, (index) => `key-${index}`);
  const requirements = keys.map((key) => ({
    key,
    operator: 'In' as const,
    values: ['a', 'b', 'c', 'd'],
  }));
  const topologySpreadConstraints = keys.map((key) => ({
    ...softly(key),
    whenUnsatisfiable: 'DoNotSchedule',
  }));
  // no size has both, so no combination will do
  const spec = { topologySpreadConstraints } as unknown as Partial<PodSpec>;
  const plan = planned({
    pools: [pool('web', { requirements })],
    pods: [pod('spread', { cpu: '8', memory: '60Gi' }, spec), ...others],
  });

  expect(refused(plan)).toEqual(['spread']);
  expect(groups(plan).flat()).toEqual(['p0', 'p1', 'p2']);
});

test('many Pods that each wish to spread over a key of their own', () => {
  const wishing = times(500, (index) =>
    pod(`own-${index}`, { cpu: '1' }, {
      topologySpreadConstraints: [softly(`own-${index}`)],
    } as unknown as Partial<PodSpec>),
  );
  expect(refused(planned({ pods: wishing }))).toEqual([]);
});
