/** What rules between Pods leave to choose. Numbers are those of docs/reference/karpenter-behaviour.md. */
import { describe, expect, test } from 'vitest';

import type { PodSpec } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import type { BoundPod, Problem } from './solver.ts';
import { mustBe, pool, size, toKraftlet } from './testing/build.ts';
import {
  fullIn,
  groups,
  nodeIn,
  nominated,
  perZone,
  planned,
  refused,
  zoned,
} from './testing/plans.ts';
import { apart, labelled, near, ratherApart, spread } from './testing/rules.ts';

const { zone, hostname: host } = labels;
const web = { app: 'web' };
const api = { app: 'api' };
const inZones = (...values: string[]) => mustBe({ key: zone, operator: 'In', values });
const soldIn = (...zones: string[]) => [size(8, { zones })];
const on = (name: string, count: number, spec: Partial<PodSpec> = {}): BoundPod[] =>
  labelled(count, web, spec, { name: `${name}-` }).map((one) => ({ pod: one, on: name }));
/** The values of a label over claims, with how many Pods are there. */
const perValue = (parts: Partial<Problem>, key: string): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { requirements, pods } of planned(parts).claims) {
    const [value = 'any', ...others] =
      requirements.find((one) => one.key === key && one.operator === 'In')?.values ?? [];
    const name = others.length > 0 ? 'any' : value;
    counts[name] = (counts[name] ?? 0) + pods.length;
  }
  return counts;
};

describe('K40: spread over zones', () => {
  test('looks at Pods by expressions too', () => {
    const labelSelector = {
      matchExpressions: [{ key: 'app', operator: 'In' as const, values: ['web', 'cart'] }],
    };
    const rule = spread(zone, web, { labelSelector });
    const others = labelled(3, api, {}).map((one) => ({ pod: one, on: 'n' }));
    const there = { nodes: [fullIn('1a', 'n')], bound: others };
    expect(perZone(planned({ pods: labelled(3, web, rule), ...there }))).toEqual({
      '1a': 1,
      '1b': 1,
      '1c': 1,
    });
  });

  test('counts all Pods where the selector is empty, and none where there is none', () => {
    const mixed = (parts: Parameters<typeof spread>[2]) => [
      ...labelled(2, web, spread(zone, web, parts), { name: 'w' }),
      ...labelled(1, api, spread(zone, web, parts), { name: 'a' }),
    ];
    expect(perZone(planned({ pods: mixed({ labelSelector: {} }) }))).toEqual({
      '1a': 1,
      '1b': 1,
      '1c': 1,
    });
    const none = labelled(3, web, spread(zone, web)).map((one) => ({
      ...one,
      spec: {
        ...one.spec!,
        topologySpreadConstraints: [
          { topologyKey: zone, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
        ],
      },
    }));
    expect(groups(planned({ pods: none }))).toEqual([['p0', 'p1', 'p2']]);
  });

  test('is over the zones of the pool, and of all pools together', () => {
    const requirements = [{ key: zone, operator: 'In' as const, values: ['1a', '1b'] }];
    const two = pool('two', { sizes: zoned, requirements });
    const third = pool('third', { sizes: zoned, labels: { [zone]: '1c' } });
    const pods = labelled(6, web, spread(zone, web));
    expect(perZone(planned({ pods, pools: [two] }))).toEqual({ '1a': 3, '1b': 3 });
    expect(perZone(planned({ pods, pools: [two, third] }))).toEqual({ '1a': 2, '1b': 2, '1c': 2 });
  });

  test('that is uneven already goes on in the emptiest zones only', () => {
    const bound = [...on('a', 4), ...on('b', 1)];
    const nodes = [fullIn('1a', 'a'), fullIn('1b', 'b'), fullIn('1c', 'c')];
    const pods = labelled(3, web, spread(zone, web));
    expect(perZone(planned({ pods, nodes, bound }))).toEqual({ '1b': 1, '1c': 2 });
  });

  test('takes another than the emptiest where that is all there is', () => {
    const nodes = [fullIn('1b', 'b')];
    const pools = [pool('web', { sizes: soldIn('1a') })];
    const rule = spread(zone, web, { maxSkew: 3 });
    const plan = planned({ pods: labelled(5, web, rule), nodes, pools });
    expect(perZone(plan)).toEqual({ '1a': 3 });
  });

  test('that is only wished for is given up where it cannot be had', () => {
    const pools = [pool('web', { sizes: soldIn('1a') })];
    const nodes = [fullIn('1b', 'b')];
    const rule = spread(zone, web, { whenUnsatisfiable: 'ScheduleAnyway' });
    expect(perZone(planned({ pods: labelled(4, web, rule), nodes, pools }))).toEqual({ '1a': 4 });
    expect(perZone(planned({ pods: labelled(3, web, rule) }))).toEqual({
      '1a': 1,
      '1b': 1,
      '1c': 1,
    });
  });

  test('over architectures is even', () => {
    const arm = [2, 4, 8].map((vcpus) => {
      const { labels: own, machine, ...rest } = size(vcpus);
      const name = `arm.${vcpus}`;
      const named = { [labels.instanceType]: name, [labels.arch]: 'arm64' };
      return { ...rest, name, machine, labels: { ...own, ...named } };
    });
    const pools = [pool('web', { sizes: [...zoned, ...arm] })];
    const pods = labelled(4, web, spread(labels.arch, web));
    expect(perValue({ pods, pools }, labels.arch)).toEqual({ amd64: 2, arm64: 2 });
  });

  test('of two kinds of Pod that count each other is even over both', () => {
    const both = { matchExpressions: [{ key: 'app', operator: 'Exists' as const }] };
    const rule = spread(zone, web, { labelSelector: both });
    const pods = [
      ...labelled(3, web, rule, { name: 'w' }),
      ...labelled(3, api, rule, { name: 'a' }),
    ];
    expect(perZone(planned({ pods }))).toEqual({ '1a': 2, '1b': 2, '1c': 2 });
  });
});

describe('K41: minDomains', () => {
  test('that are as many as there are change nothing', () => {
    const pods = labelled(5, web, spread(zone, web, { minDomains: 3 }));
    const counts = Object.values(perZone(planned({ pods })));
    expect(counts.toSorted((a, b) => a - b)).toEqual([1, 2, 2]);
  });

  test('hold together with volumes that are in zones', () => {
    const claimed = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
    const pods = labelled(3, web, { ...spread(zone, web, { minDomains: 3 }), ...claimed });
    const zones = ['1a', '1b', '1c'];
    const volumes = new Map(
      zones.map((one, index) => [
        `shop/p${index}`,
        { nodes: [[{ key: zone, operator: 'In' as const, values: [one] }]], attached: {} },
      ]),
    );
    expect(perZone(planned({ pods, volumes }))).toEqual({ '1a': 1, '1b': 1, '1c': 1 });
  });
});

test('K42: several Deployments that each spread over hosts share them', () => {
  const pods = ['a', 'b', 'c'].flatMap((name) =>
    labelled(3, { app: name }, spread(host, { app: name }), { name }),
  );
  const plan = planned({ pods });
  expect(groups(plan)).toHaveLength(3);
  for (const names of groups(plan)) {
    expect(names.map((name) => name[0])).toEqual(['a', 'b', 'c']);
  }
});

describe('K44: racks of a pool that Pods do not tolerate', () => {
  const taints = [{ key: 'team', value: 'red', effect: 'NoSchedule' as const }];
  const pools = [
    pool('open', { sizes: zoned, labels: { rack: 'r1' } }),
    pool('closed', { sizes: zoned, labels: { rack: 'r2' }, taints }),
  ];
  const spreading = (nodeTaintsPolicy: 'Honor' | 'Ignore') =>
    planned({ pods: labelled(4, web, spread('rack', web, { nodeTaintsPolicy })), pools });

  test('count where taints are ignored, so that the other rack fills to the skew', () => {
    expect(groups(spreading('Ignore')).flat()).toHaveLength(1);
    expect(refused(spreading('Ignore'))).toHaveLength(3);
  });

  test('do not count where they are honoured', () => {
    expect(groups(spreading('Honor'))).toEqual([['p0', 'p1', 'p2', 'p3']]);
  });

  test('are shared by Pods of both kinds that count each other only where they may go', () => {
    const tolerations = [toKraftlet, { key: 'team', operator: 'Exists' as const }];
    const rule = spread('rack', web, { nodeTaintsPolicy: 'Honor' });
    const pods = labelled(4, web, { ...rule, tolerations });
    const counts = planned({ pods, pools }).claims.map(({ nodePool, pods: all }) => [
      nodePool,
      all.length,
    ]);
    expect(Object.fromEntries(counts)).toEqual({ open: 2, closed: 2 });
  });
});

describe('K45: a spread and what a Pod asks of its node', () => {
  test.each<[string, Partial<PodSpec>]>([
    ['a selector', { nodeSelector: { [zone]: '1b' } }],
    ['a required affinity', inZones('1b')],
  ])('%s leaves fewer zones', (_, asked) => {
    const pods = labelled(4, web, { ...spread(zone, web), ...asked });
    expect(perZone(planned({ pods }))).toEqual({ '1b': 4 });
  });

  test('an affinity to two zones leaves two', () => {
    const pods = labelled(4, web, { ...spread(zone, web), ...inZones('1a', '1c') });
    expect(perZone(planned({ pods }))).toEqual({ '1a': 2, '1c': 2 });
  });

  test('a wish leaves all', () => {
    const preference = {
      matchExpressions: [{ key: zone, operator: 'In' as const, values: ['1b'] }],
    };
    const wish = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference }] };
    const pods = labelled(6, web, { ...spread(zone, web), affinity: { nodeAffinity: wish } });
    expect(perZone(planned({ pods }))).toEqual({ '1a': 2, '1b': 2, '1c': 2 });
  });
});

describe('K46: affinity', () => {
  test('that depends on others that depend on others is followed', () => {
    const names = ['d', 'c', 'b', 'a'];
    const pods = names.flatMap((name, index) => {
      const target = names[index + 1];
      const rule = target === undefined ? {} : near(host, { app: target });
      return labelled(1, { app: name }, rule, { name });
    });
    expect(groups(planned({ pods }))).toEqual([['a0', 'b0', 'c0', 'd0']]);
  });

  test('in a circle with nobody to begin is refused', () => {
    const pods = [
      ...labelled(1, web, near(host, api), { name: 'w' }),
      ...labelled(1, api, near(host, { app: 'none' }), { name: 'a' }),
    ];
    expect(refused(planned({ pods }))).toEqual(['a0', 'w0']);
  });

  test.each(['1a', '1b', '1c'])('to a Pod that must be in zone %s goes there', (only) => {
    const pods = [
      ...labelled(1, web, inZones(only), { name: 'w', cpu: '8' }),
      ...labelled(5, api, near(zone, web), { name: 'a', cpu: '3' }),
    ];
    expect(perZone(planned({ pods }))).toEqual({ [only]: 6 });
  });

  test('over hosts begins once: who finds no room there is refused', () => {
    const pods = labelled(3, web, near(host, web), { cpu: '4' });
    const nodes = [nodeIn('1a', 'n', '4')];
    expect(nominated(planned({ pods, nodes, bound: on('n', 1) }))).toEqual({ p0: 'n' });
    expect(refused(planned({ pods, nodes, bound: on('n', 1) }))).toEqual(['p1', 'p2']);
  });

  test('begins once also for one that cannot go there: kube-scheduler lets nobody begin anew', () => {
    const pods = ['1a', '1b'].flatMap((only) =>
      labelled(1, web, { ...near(zone, web), nodeSelector: { [zone]: only } }, { name: only }),
    );
    expect(perZone(planned({ pods }))).toEqual({ '1a': 1 });
    expect(refused(planned({ pods }))).toEqual(['1b0']);
  });

  test('that is only wished for is given up, and so is the wish to be apart', () => {
    const pools = [pool('web', { sizes: [size(8, { zones: ['1a'] })] })];
    const preferred = {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 50, podAffinityTerm: { topologyKey: zone, labelSelector: { matchLabels: api } } },
      ],
    };
    const pods = [
      ...labelled(2, web, { affinity: { podAffinity: preferred } }, { name: 'n' }),
      ...labelled(2, web, ratherApart(zone, web), { name: 'a' }),
    ];
    expect(refused(planned({ pods, pools }))).toEqual([]);
  });

  test('that is only wished for is given up where a machine is full', () => {
    const preferred = {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 50, podAffinityTerm: { topologyKey: host, labelSelector: { matchLabels: web } } },
      ],
    };
    const plan = planned({ pods: labelled(10, web, { affinity: { podAffinity: preferred } }) });
    expect(groups(plan).map(({ length }) => length)).toEqual([8, 2]);
  });

  test('that others only wish for binds nobody', () => {
    const preferred = {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 50, podAffinityTerm: { topologyKey: zone, labelSelector: { matchLabels: web } } },
      ],
    };
    const pods = [
      ...labelled(
        1,
        web,
        { affinity: { podAffinity: preferred }, nodeSelector: { [zone]: '1a' } },
        { name: 'n', cpu: '3' },
      ),
      ...labelled(1, web, { nodeSelector: { [zone]: '1b' } }, { name: 'w' }),
    ];
    expect(perZone(planned({ pods }))).toEqual({ '1a': 1, '1b': 1 });
  });

  test('to Pods of other namespaces must name them', () => {
    const [there] = labelled(1, web, {}, { namespace: 'other' });
    const given = { nodes: [nodeIn('1b', 'n', '1')], bound: [{ pod: there!, on: 'n' }] };
    expect(refused(planned({ ...given, pods: labelled(1, api, near(zone, web)) }))).toEqual(['p0']);
    const named = labelled(1, api, near(zone, web, { namespaces: ['other'] }));
    expect(nominated(planned({ ...given, pods: named }))).toEqual({ p0: 'n' });
  });
});

describe('K47: anti-affinity', () => {
  test('that others only wish for keeps nobody away', () => {
    const nodes = [nodeIn('1a', 'n')];
    const bound = on('n', 1, ratherApart(zone, web));
    expect(nominated(planned({ pods: labelled(1, web), nodes, bound }))).toEqual({ p0: 'n' });
  });

  test('over zones holds too when the one that others avoid comes first', () => {
    const pods = [
      ...labelled(3, api, apart(zone, web), { name: 'a', cpu: '500m' }),
      ...labelled(1, web, {}, { name: 'w', cpu: '7' }),
    ];
    const plan = planned({ pods });
    const own = plan.claims.find(({ pods: all }) => all.includes('shop/w0'));
    expect(own?.pods).toEqual(['shop/w0']);
    expect(refused(plan)).toEqual([]);
    expect(Object.keys(perZone(plan))).toHaveLength(2);
  });

  test('of Pods in every zone leaves no place', () => {
    const nodes = ['1a', '1b', '1c'].map((one) => fullIn(one, `n${one}`));
    const bound = nodes.flatMap(({ name }) => on(name, 1));
    expect(refused(planned({ pods: labelled(1, api, apart(zone, web)), nodes, bound }))).toEqual([
      'p0',
    ]);
  });
});

describe('K49: default spread', () => {
  const select = (app: string, ...names: string[]) =>
    names.map((name) => [`shop/${name}`, [{ matchLabels: { app } }]] as const);
  const defaults = (parts: object, ...selectors: ReturnType<typeof select>) => ({
    constraints: [
      { topologyKey: zone, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const, ...parts },
    ],
    selectors: new Map(selectors),
  });

  test('spreads each workload by itself', () => {
    const pods = [...labelled(3, web, {}, { name: 'w' }), ...labelled(3, api, {}, { name: 'a' })];
    const defaultSpread = defaults(
      {},
      ...select('web', 'w0', 'w1', 'w2'),
      ...select('api', 'a0', 'a1', 'a2'),
    );
    const plan = planned({ pods, defaultSpread });
    for (const names of groups(plan)) {
      expect(names.map((name) => name[0])).toEqual(['a', 'w']);
    }
    expect(Object.keys(perZone(plan))).toHaveLength(3);
  });

  test('counts Pods that are there', () => {
    const nodes = [fullIn('1a', 'n')];
    const given = { nodes, bound: on('n', 1), defaultSpread: defaults({}, ...select('web', 'p0')) };
    const [used = ''] = Object.keys(perZone(planned({ ...given, pods: labelled(1, web) })));
    expect(['1b', '1c']).toContain(used);
  });

  test('holds with minDomains', () => {
    const defaultSpread = defaults({ minDomains: 4 }, ...select('web', 'p0', 'p1', 'p2', 'p3'));
    const plan = planned({ pods: labelled(4, web), defaultSpread });
    expect(refused(plan)).toHaveLength(1);
  });

  test('that is a wish is given up, a hard one is not', () => {
    const pools = [pool('web', { sizes: soldIn('1a') })];
    const nodes = [fullIn('1b', 'b')];
    const given = { pools, nodes, pods: labelled(2, web) };
    const under = (whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway') =>
      refused(
        planned({
          ...given,
          defaultSpread: defaults({ whenUnsatisfiable }, ...select('web', 'p0', 'p1')),
        }),
      );
    expect(under('ScheduleAnyway')).toEqual([]);
    const wish = defaults({ whenUnsatisfiable: 'ScheduleAnyway' }, ...select('web', 'p0', 'p1'));
    const zones = perZone(planned({ pods: labelled(2, web), defaultSpread: wish }));
    expect(Object.values(zones)).toEqual([1, 1]);
    expect(under('DoNotSchedule')).toEqual(['p1']);
  });
});
