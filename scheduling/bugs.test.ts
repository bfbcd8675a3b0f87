/** What went wrong elsewhere, each as its whole kind. Numbers are those of docs/reference/karpenter-behaviour.md. */
import { describe, expect, test, vi } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';
import { fits } from '#schemas/quantity/resources.ts';

import { blockSize } from './places/lanes.ts';
import { Place } from './places/place.ts';
import { solve } from './solve.ts';
import type { NodeInSight, Plan, Problem } from './solver.ts';
import { daemonSet, pod, pods, pool, problem, size } from './testing/build.ts';
import { allDifferent, besideNodes, mix, wishful } from './testing/mix.ts';
import { groups, nominated, planned, refusalsOf, zoned } from './testing/plans.ts';
import { labelled, spread } from './testing/rules.ts';

/** The claims of a plan as the next pass sees them: on their way, with what was planned for them. */
function onTheWay(plan: Plan): NodeInSight[] {
  return plan.claims.map(({ instanceTypes, requests, requirements }, index) => ({
    name: `claim-${index}`,
    kind: 'claim',
    labels: {},
    taints: [{ key: 'virtual-kubelet.io/provider', value: 'ukc', effect: 'NoSchedule' }],
    allocatable: instanceTypes[0]!.capacity,
    requested: requests,
    requirements,
  }));
}

const boundTo = (plan: Plan, all: readonly Pod[]) =>
  plan.claims.flatMap(({ pods: keys }, index) =>
    keys.map((key) => ({
      pod: all.find(({ metadata }) => `shop/${metadata?.name}` === key)!,
      on: `claim-${index}`,
    })),
  );

describe('F1 F2 F3: nothing is launched twice for one Pod', () => {
  test('Pods that a claim was made for fit it in the next pass, DaemonSets and all', () => {
    const all = pods(7, { cpu: '900m' });
    const daemonSets = [daemonSet({ cpu: '300m' }), daemonSet({ cpu: '100m' })];
    const first = planned({ pods: all, daemonSets });
    const nodes = onTheWay(first).map((node) => ({
      ...node,
      // Nobody remembers the Pods: only DaemonSets are known to come.
      requested: { cpu: '400m', pods: '2' },
    }));
    const second = planned({ pods: all, daemonSets, nodes });
    expect(second.claims).toEqual([]);
    expect(Object.keys(nominated(second))).toHaveLength(7);
  });

  test('what a claim asks for never exceeds any size that it lists', () => {
    const plan = solve(mix(200));
    const isFine = plan.claims.every(({ requests, instanceTypes }) =>
      instanceTypes.every(({ capacity }) => fits(requests, capacity)),
    );
    expect(isFine).toBe(true);
  });

  test('a taint that nobody tolerates keeps Pods off instead of launching for them again', () => {
    const taints = [{ key: 'cni.example.com/agent-not-ready', effect: 'NoExecute' as const }];
    const plan = planned({ pods: pods(3), pools: [pool('web', { sizes: zoned, taints })] });
    expect(plan.claims).toEqual([]);
    expect(refusalsOf(plan, 'p0')).toMatchObject([{ reason: 'Taints' }]);
  });

  test('the zone of a volume and the zone of its machine are one', () => {
    const nodes = [[{ key: labels.zone, operator: 'In' as const, values: ['1c'] }]];
    const spec = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
    const volumes = new Map([['shop/p', { nodes, attached: {} }]]);
    const plan = planned({ pods: [pod('p', {}, spec)], volumes });
    expect(plan.claims[0]?.requirements).toContainEqual({
      key: labels.zone,
      operator: 'In',
      values: ['1c'],
    });
  });

  test('passes with everything in sight settle: a spread goes on where it stopped', () => {
    const rule = spread(labels.zone, { app: 'web' });
    const early = labelled(4, { app: 'web' }, rule, { name: 'early' });
    const late = labelled(5, { app: 'web' }, rule, { name: 'late' });
    const first = planned({ pods: early });
    const nodes = onTheWay(first).map((node, index) => ({
      ...node,
      labels: { [labels.zone]: ['1a', '1b', '1c'][index % 3]! },
    }));
    const second = planned({ pods: late, nodes, bound: boundTo(first, early) });
    const third = planned({
      pods: [],
      nodes: [...nodes, ...onTheWay(second)],
      bound: boundTo(first, early),
    });
    expect(groups(first).flat()).toHaveLength(4);
    expect(groups(second).flat().length + Object.keys(nominated(second)).length).toBe(5);
    expect(third.claims).toEqual([]);
  });
});

test('F4: startup taints are no matter of the plan', () => {
  const web = pool('web', { sizes: zoned });
  web.pool.spec.template.spec.startupTaints = [{ key: 'starting', effect: 'NoSchedule' }];
  expect(groups(planned({ pods: pods(1), pools: [web] }))).toEqual([['p0']]);
});

test('F5: a claim that is not launched yet stops nothing and is filled', () => {
  const coming: NodeInSight = {
    ...onTheWay(planned({ pods: pods(1, { cpu: '8' }) }))[0]!,
    requested: {},
  };
  const plan = planned({ pods: pods(10), nodes: [coming] });
  expect(Object.keys(nominated(plan))).toHaveLength(8);
  expect(groups(plan)).toEqual([['p8', 'p9']]);
});

describe('F17: limits hold within a pass', () => {
  test('of nodes, however many claims it plans', () => {
    const limited = pool('web', { sizes: [size(2)], limits: { nodes: '7' } });
    const plan = planned({ pods: pods(101, { cpu: '2' }), pools: [limited] });
    expect(plan.claims).toHaveLength(7);
    expect(plan.unschedulable.size).toBe(94);
  });

  test('a claim that grows gives back what its smaller size held', () => {
    const limited = pool('web', { sizes: zoned, limits: { cpu: '10', nodes: '2' } });
    const plan = planned({ pods: pods(10), pools: [limited] });
    expect(groups(plan).map(({ length }) => length)).toEqual([8, 2]);
  });

  test('another pool takes what a full one cannot', () => {
    const full = pool('full', { sizes: zoned, limits: { nodes: '0' }, weight: 9 });
    const plan = planned({ pods: pods(1), pools: [full, pool('free', { sizes: zoned })] });
    expect(plan.claims.map(({ nodePool }) => nodePool)).toEqual(['free']);
  });
});

describe('F19: size', () => {
  /** How often a place is asked whether a Pod fits, which is most of the work. */
  const asked = (given: Problem): number => {
    const check = vi.spyOn(Place.prototype, 'check');
    solve(given);
    const { length } = check.mock.calls;
    check.mockRestore();
    return length;
  };

  // To ask every place for each Pod would be hundreds of times as much, and thousands of times beside nodes.
  test.each([
    ['of the mix', mix],
    ['that are all different', allDifferent],
    ['with wishes', wishful],
    ['beside nodes, as many as Pods', (count: number) => besideNodes(count, count)],
  ])('for each of many Pods %s few places are asked', (_, make) => {
    expect(asked(make(3000)) / 3000).toBeLessThan(blockSize);
  });

  test('Pods of a hundred thousand on nodes that take no part are only counted', () => {
    const closed = [{ name: 'old', labels: { [labels.zone]: '1a' }, taints: [] }];
    const [one] = labelled(1, { app: 'web' });
    const bound = Array.from({ length: 100_000 }, () => ({ pod: one!, on: 'old' }));
    const rule = spread(labels.zone, { app: 'web' });
    const plan = solve(
      problem({
        pods: labelled(2, { app: 'web' }, rule),
        pools: [pool('web', { sizes: zoned })],
        closed,
        bound,
      }),
    );
    expect(plan.claims.map(({ pods: all }) => all.length)).toEqual([1, 1]);
  });
});

test('F20: a Pod that is meant for others is told so in a word, by every pool', () => {
  const pools = [pool('a', { sizes: zoned }), pool('b', { sizes: zoned })];
  const plan = planned({ pods: [pod('theirs', {}, { tolerations: [] })], pools });
  expect(refusalsOf(plan, 'theirs').map(({ pool: name, reason }) => [name, reason])).toEqual([
    ['b', 'Taints'],
    ['a', 'Taints'],
  ]);
});

test('F22: spread that the cluster gives by default is held, else kube-scheduler leaves Pods pending', () => {
  const web = { app: 'web' };
  const defaultSpread = {
    constraints: [
      { topologyKey: labels.zone, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const },
    ],
    selectors: new Map([0, 1].map((index) => [`shop/p${index}`, [{ matchLabels: web }]])),
  };
  expect(groups(planned({ pods: labelled(2, web), defaultSpread }))).toHaveLength(2);
});

test('F25: only what a size really offers is counted on', () => {
  const boasting = { ...size(2), capacity: { ...size(2).capacity, 'example.com/extra': '0' } };
  const plan = planned({
    pods: [pod('p', { 'example.com/extra': '1' })],
    pools: [pool('web', { sizes: [boasting] })],
  });
  expect(refusalsOf(plan, 'p')).toMatchObject([
    { reason: 'Resources', resource: 'example.com/extra' },
  ]);
});
