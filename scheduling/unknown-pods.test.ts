import { expect, test } from 'vitest';

import type { Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import { solve } from './solve.ts';
import type { Plan, Problem } from './solver.ts';
import { node, pod, pool, problem } from './testing/build.ts';
import { apart, labelled, near, ratherApart, spread } from './testing/rules.ts';

/** Nobody has said which Pods there are already. */
const solved = (parts: Partial<Problem>): Plan =>
  solve(problem({ pools: [pool('web')], ...parts }));
const web = { app: 'web' };
const webs = (count: number, spec: Partial<PodSpec>): Pod[] => labelled(count, web, spec);

test('Pods that must be apart by host get a machine each, and others join them there', () => {
  const { claims } = solved({ pods: [...webs(2, apart(labels.hostname, web)), pod('other')] });
  expect(claims.map(({ pods }) => pods)).toEqual([['shop/p0', 'shop/other'], ['shop/p1']]);
});

test('they go to a node in sight only while it is empty', () => {
  const nodes = [node('empty', { cpu: '8' }, { empty: true }), node('used', { cpu: '8' })];
  const plan = solved({ pods: webs(3, apart(labels.hostname, web)), nodes, pools: [] });
  expect([...plan.nominations.values()]).toEqual(['empty']);
});

test('so do Pods with a host port or with spread over hosts', () => {
  const port = { containers: [{ name: 'app', ports: [{ containerPort: 80, hostPort: 80 }] }] };
  const nodes = [node('used', { cpu: '8' })];
  expect(solved({ pods: webs(2, port), nodes }).claims).toHaveLength(2);
  expect(solved({ pods: webs(2, spread(labels.hostname, web)), nodes }).claims).toHaveLength(2);
});

test.each([
  ['anti-affinity by zone', apart(labels.zone, web), 'pod anti-affinity over anything but'],
  ['affinity', near(labels.hostname, web), 'required pod affinity'],
  ['hard spread by zone', spread(labels.zone, web), 'topology spread over anything but'],
  [
    'a volume with a claim',
    { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'x' } }] },
    'a claim of which nothing is known',
  ],
  [
    'a device',
    { resourceClaims: [{ name: 'gpu' }] } as Partial<PodSpec>,
    'dynamic resource claims',
  ],
] satisfies [string, Partial<PodSpec>, string][])('%s is refused, not guessed', (_, spec, told) => {
  const plan = solved({ pods: webs(1, spec), nodes: [node('n', { cpu: '9' })] });
  expect(plan.nominations.size + plan.claims.length).toBe(0);
  expect(plan.unschedulable.get('shop/p0')).toMatchObject([
    { pool: 'web', reason: 'Unsupported', message: expect.stringContaining(told) },
  ]);
});

test('wishes about other Pods do not stand in the way', () => {
  const spec = {
    ...spread(labels.zone, web, { whenUnsatisfiable: 'ScheduleAnyway' }),
    ...ratherApart(labels.hostname, web),
  };
  expect(solved({ pods: webs(2, spec) }).claims).toMatchObject([{ pods: ['shop/p0', 'shop/p1'] }]);
});

test('a rule about namespaces whose labels nobody knows is refused', () => {
  const term = { namespaceSelector: { matchLabels: { team: 'a' } } };
  const pods = webs(1, apart(labels.hostname, web, term));
  expect(solved({ pods, bound: [] }).unschedulable.get('shop/p0')).toMatchObject([
    { reason: 'Unsupported', message: expect.stringContaining('namespaces') },
  ]);
});
