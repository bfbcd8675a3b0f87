/** Rules between Pods. Numbers are those of docs/reference/karpenter-behaviour.md. */
import { describe, expect, test } from 'vitest';

import { labels } from '#schemas/names.ts';

import type { BoundPod } from './solver.ts';
import { node, pod, pool, size } from './testing/build.ts';
import {
  fullIn,
  groups,
  nodeIn,
  nominated,
  perZone,
  planned,
  refusalsOf,
  refused,
  zoned,
} from './testing/plans.ts';
import { apart, labelled, near, spread } from './testing/rules.ts';

const web = { app: 'web' };
const { zone, hostname: host } = labels;
const on = (
  name: string,
  count: number,
  own: Record<string, string> = web,
  spec = {},
): BoundPod[] =>
  labelled(count, own, spec, { name: `${name}-` }).map((one) => ({ pod: one, on: name }));

describe('K40: spread over zones', () => {
  test('is even', () => {
    expect(perZone(planned({ pods: labelled(6, web, spread(zone, web)) }))).toEqual({
      '1a': 2,
      '1b': 2,
      '1c': 2,
    });
  });

  test('allows for what is there', () => {
    const bound = [...on('n1a', 3), ...on('n1b', 1)];
    const full = ['1a', '1b', '1c'].map((one) => fullIn(one, `n${one}`));
    const plan = planned({ pods: labelled(5, web, spread(zone, web)), nodes: full, bound });
    expect(perZone(plan)).toEqual({ '1b': 2, '1c': 3 });
  });

  test('may be as uneven as it says, where other zones cannot be had', () => {
    const pools = [pool('web', { sizes: [size(8, { zones: ['1a'] })] })];
    const full = ['1b', '1c'].map((one) => fullIn(one, `n${one}`));
    const pods = labelled(4, web, spread(zone, web, { maxSkew: 2 }));
    const plan = planned({ pods, pools, nodes: full });
    expect(perZone(plan)).toEqual({ '1a': 2 });
    expect(refused(plan)).toEqual(['p2', 'p3']);
    expect(refusalsOf(plan, 'p2')).toMatchObject([
      { reason: 'Topology', message: expect.stringContaining(zone) },
    ]);
  });

  test('counts Pods of its namespace only', () => {
    const bound = labelled(4, web, {}, { namespace: 'other' }).map((one) => ({
      pod: one,
      on: 'n',
    }));
    const nodes = [fullIn('1a', 'n')];
    const plan = planned({ pods: labelled(3, web, spread(zone, web)), bound, nodes });
    expect(perZone(plan)).toEqual({ '1a': 1, '1b': 1, '1c': 1 });
  });

  test('counts on nodes that take no new Pods too', () => {
    const closed = [{ name: 'old', labels: { [zone]: '1a' }, taints: [] }];
    const plan = planned({
      pods: labelled(2, web, spread(zone, web)),
      closed,
      bound: on('old', 1),
    });
    expect(perZone(plan)).toEqual({ '1b': 1, '1c': 1 });
  });

  test('passes over Pods that end, and Pods of nodes that are gone', () => {
    const [ending] = labelled(1, web);
    const bound = [
      {
        pod: {
          ...ending!,
          metadata: { ...ending!.metadata, deletionTimestamp: '2026-11-30T00:00:00Z' },
        },
        on: 'node-1a',
      },
      { pod: { ...ending!, status: { phase: 'Succeeded' } }, on: 'node-1a' },
      ...on('gone', 3),
    ];
    const nodes = [nodeIn('1a', 'node-1a', '1')];
    const plan = planned({ pods: labelled(3, web, spread(zone, web)), bound, nodes });
    expect(nominated(plan)).toEqual({ p0: 'node-1a' });
    expect(perZone(plan)).toEqual({ '1b': 1, '1c': 1 });
  });

  test('of a Pod that it does not count itself is no reason to wait', () => {
    const plan = planned({ pods: labelled(4, { app: 'api' }, spread(zone, web)) });
    expect(groups(plan)).toEqual([['p0', 'p1', 'p2', 'p3']]);
  });

  test('works over any label that a pool gives', () => {
    const requirements = [{ key: 'rack', operator: 'In' as const, values: ['r1', 'r2'] }];
    const pools = [pool('web', { sizes: zoned, requirements })];
    const plan = planned({ pods: labelled(4, web, spread('rack', web)), pools });
    const racks = plan.claims.map(({ requirements: all, pods }) => [
      all.find(({ key }) => key === 'rack')?.values,
      pods.length,
    ]);
    expect(racks).toEqual([
      [['r1'], 2],
      [['r2'], 2],
    ]);
  });

  test('over capacity types has one domain, which is no obstacle', () => {
    const plan = planned({ pods: labelled(3, web, spread(labels.capacityType, web)) });
    expect(groups(plan)).toEqual([['p0', 'p1', 'p2']]);
  });

  test('over a label that no node has is refused', () => {
    expect(refused(planned({ pods: labelled(1, web, spread('rack', web)) }))).toEqual(['p0']);
  });

  test('of two kinds of Pod that each may go to one zone alternates between them', () => {
    const pods = ['1a', '1b'].flatMap((only) =>
      labelled(4, web, { ...spread(zone, web), nodeSelector: { [zone]: only } }, { name: only }),
    );
    const pools = [pool('web', { sizes: [size(8, { zones: ['1a', '1b'] })] })];
    const ignoring = pods.map((one) => ({
      ...one,
      spec: { ...one.spec!, ...spread(zone, web, { nodeAffinityPolicy: 'Ignore' }) },
    }));
    expect(perZone(planned({ pods: ignoring, pools }))).toEqual({ '1a': 4, '1b': 4 });
  });
});

describe('K41: minDomains', () => {
  test('that are fewer than there are change nothing', () => {
    const plan = planned({ pods: labelled(6, web, spread(zone, web, { minDomains: 2 })) });
    expect(perZone(plan)).toEqual({ '1a': 2, '1b': 2, '1c': 2 });
  });

  test('that cannot be had keep each domain to the skew', () => {
    const plan = planned({ pods: labelled(6, web, spread(zone, web, { minDomains: 4 })) });
    expect(perZone(plan)).toEqual({ '1a': 1, '1b': 1, '1c': 1 });
    expect(refused(plan)).toHaveLength(3);
  });
});

describe('K42: spread over hosts', () => {
  test('puts so many Pods on each as its skew allows', () => {
    const three = planned({ pods: labelled(6, web, spread(host, web, { maxSkew: 3 })) });
    expect(groups(three).map(({ length }) => length)).toEqual([3, 3]);
  });

  test('allows for what is there', () => {
    const nodes = [nodeIn('1a', 'a'), nodeIn('1a', 'b')];
    const plan = planned({ pods: labelled(2, web, spread(host, web)), nodes, bound: on('a', 1) });
    expect(nominated(plan)).toEqual({ p0: 'b' });
    expect(groups(plan)).toEqual([['p1']]);
  });
});

test('K43: matchLabelKeys spread each revision by itself', () => {
  const revision = (hash: string) => ({ ...web, hash });
  const bound = on('old', 3, revision('1'));
  const nodes = [fullIn('1a', 'old')];
  const rule = spread(zone, web, { matchLabelKeys: ['hash', 'absent'] });
  const plan = planned({ pods: labelled(3, revision('2'), rule), bound, nodes });
  expect(perZone(plan)).toEqual({ '1a': 1, '1b': 1, '1c': 1 });
});

describe('K44: which nodes a spread looks at', () => {
  const taint = { key: 'team', value: 'red', effect: 'NoSchedule' as const };
  const elsewhere = node('red', { cpu: '9' }, { labels: { [zone]: '9z' }, taints: [taint] });
  const pods = (parts: Parameters<typeof spread>[2]) => labelled(6, web, spread(zone, web, parts));

  test('a zone of tainted nodes counts unless the spread honours taints', () => {
    expect(refused(planned({ pods: pods({}), nodes: [elsewhere] }))).toHaveLength(3);
    expect(
      refused(planned({ pods: pods({ nodeTaintsPolicy: 'Honor' }), nodes: [elsewhere] })),
    ).toEqual([]);
  });

  test('a zone that the Pod does not select counts only if the spread ignores its selector', () => {
    const only = { nodeSelector: { [zone]: '1a' } };
    const kept = labelled(3, web, { ...spread(zone, web), ...only });
    const lost = labelled(3, web, {
      ...spread(zone, web, { nodeAffinityPolicy: 'Ignore' }),
      ...only,
    });
    expect(perZone(planned({ pods: kept }))).toEqual({ '1a': 3 });
    expect(refused(planned({ pods: lost }))).toEqual(['p1', 'p2']);
  });
});

test('K45: all rules of a Pod hold together', () => {
  const both = {
    topologySpreadConstraints: [
      ...spread(zone, web).topologySpreadConstraints!,
      ...spread(host, web, { maxSkew: 2 }).topologySpreadConstraints!,
    ],
  };
  const plan = planned({ pods: labelled(9, web, both) });
  expect(perZone(plan)).toEqual({ '1a': 3, '1b': 3, '1c': 3 });
  expect(Math.max(...plan.claims.map(({ pods }) => pods.length))).toBe(2);
});

describe('K46: affinity', () => {
  test('to its own kind starts in one domain, and all follow', () => {
    const plan = planned({ pods: labelled(10, web, near(zone, web)) });
    expect(Object.values(perZone(plan))).toEqual([10]);
    expect(groups(planned({ pods: labelled(5, web, near(host, web)) }))).toHaveLength(1);
  });

  test('on one host ends where the largest machine ends', () => {
    const plan = planned({ pods: labelled(10, web, near(host, web)) });
    expect(groups(plan).map(({ length }) => length)).toEqual([8]);
    expect(refused(plan)).toHaveLength(2);
  });

  test('follows Pods that are there, and goes nowhere without any', () => {
    const pods = labelled(1, { app: 'api' }, near(zone, web));
    expect(refused(planned({ pods }))).toEqual(['p0']);
    const nodes = [fullIn('1b', 'n')];
    expect(perZone(planned({ pods, nodes, bound: on('n', 1) }))).toEqual({ '1b': 1 });
  });

  test('waits for Pods that are planned later', () => {
    const api = labelled(2, { app: 'api' }, near(host, web), { name: 'api', cpu: '2' });
    const plan = planned({ pods: [...api, ...labelled(1, web, {}, { cpu: '500m' })] });
    expect(groups(plan)).toEqual([['api0', 'api1', 'p0']]);
  });

  test('to two kinds seeks a Pod that is of both, as kube-scheduler does', () => {
    const terms = [web, { tier: 'front' }].map((matchLabels) => ({
      topologyKey: zone,
      labelSelector: { matchLabels },
    }));
    const spec = {
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
    };
    const nodes = [nodeIn('1a', 'a'), nodeIn('1b', 'b')];
    const apartOnes = [...on('a', 1), ...on('b', 1, { tier: 'front' })];
    const pods = labelled(1, { app: 'api' }, spec);
    expect(refused(planned({ pods, nodes, bound: apartOnes }))).toEqual(['p0']);
    const together = on('b', 1, { ...web, tier: 'front' });
    expect(nominated(planned({ pods, nodes, bound: together }))).toEqual({ p0: 'b' });
  });
});

test('K46: a Pod that a group seeks by two keys goes where both are, once it has started', () => {
  const terms = [zone, 'rack'].map((key) => ({
    topologyKey: key,
    labelSelector: { matchLabels: web },
  }));
  const near = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
  const racks = [{ key: 'rack', operator: 'In' as const, values: ['r1'] }];
  const racked = pool('racked', { sizes: [size(2, { zones: ['1a'] })], requirements: racks });
  const nodes = [nodeIn('1a', 'bare', '1')];
  const group = labelled(2, web, { affinity: near });
  // By name the last, it is asked after the group, and bound before it there would be nobody to join for either.
  const late = labelled(1, web, apart(zone, { app: 'none' }), { name: 'z', cpu: '500m' });
  const plan = planned({ pods: [...group, ...late], pools: [racked], nodes });
  expect(nominated(plan)).toEqual({});
  expect(groups(plan)).toEqual([['p0', 'p1'], ['z0']]);
});

describe('K47: anti-affinity', () => {
  test('over hosts gives each Pod one, and over zones each a zone', () => {
    expect(groups(planned({ pods: labelled(3, web, apart(host, web)) }))).toHaveLength(3);
    const plan = planned({ pods: labelled(4, web, apart(zone, web)) });
    expect(perZone(plan)).toEqual({ '1a': 1, '1b': 1, '1c': 1 });
    expect(refused(plan)).toEqual(['p3']);
  });

  test('of Pods that are there keeps new ones away', () => {
    const nodes = [nodeIn('1a')];
    const bound = on('node-1a', 1, { app: 'db' }, apart(zone, web));
    const plan = planned({ pods: labelled(1, web), nodes, bound });
    expect(nominated(plan)).toEqual({});
    expect(Object.keys(perZone(plan))).not.toContain('1a');
  });

  test('of Pods that are planned keeps others away, whose own rules say nothing', () => {
    const shy = labelled(1, { app: 'shy' }, apart(zone, web), { name: 'shy' });
    const plan = planned({ pods: [...shy, ...labelled(2, web)] });
    expect(groups(plan)).toEqual([['p0', 'p1'], ['shy0']]);
    expect(Object.keys(perZone(plan))).toHaveLength(2);
  });

  test('a claim on its way whose zone is open blocks every zone that it may get', () => {
    const open = [{ key: zone, operator: 'In' as const, values: ['1a', '1b'] }];
    const coming = node(
      'coming',
      { cpu: '0' },
      { kind: 'claim', requirements: open, allocatable: { cpu: '0' } },
    );
    const plan = planned({
      pods: labelled(2, web, apart(zone, web)),
      nodes: [coming],
      bound: on('coming', 1),
    });
    expect(perZone(plan)).toEqual({ '1c': 1 });
    expect(refused(plan)).toHaveLength(1);
  });

  test('takes nodes that do not have the key at all', () => {
    const nodes = [node('bare', { cpu: '4' })];
    const plan = planned({ pods: labelled(2, web, apart('rack', web)), nodes, pools: [] });
    expect(nominated(plan)).toEqual({ p0: 'bare', p1: 'bare' });
  });
});

describe('K48: namespaces', () => {
  const there = (namespace: string): BoundPod[] =>
    labelled(1, web, {}, { namespace }).map((one) => ({ pod: one, on: 'node-1a' }));
  const nodes = [nodeIn('1a')];
  const goesTo = (parts: Parameters<typeof apart>[2], namespace: string) =>
    nominated(
      planned({
        pods: labelled(1, { app: 'api' }, apart(host, web, parts)),
        nodes,
        bound: there(namespace),
        namespaces: new Map([
          ['shop', {}],
          ['red', { team: 'red' }],
          ['blue', { team: 'blue' }],
        ]),
      }),
    );

  test.each([
    ['its own when nothing is said', {}, 'shop', 'red'],
    ['those that are listed', { namespaces: ['red'] }, 'red', 'shop'],
    [
      'those that are selected',
      { namespaceSelector: { matchLabels: { team: 'red' } } },
      'red',
      'blue',
    ],
  ] as const)('a rule looks into %s', (_, parts, inside, outside) => {
    expect(goesTo(parts as Parameters<typeof apart>[2], inside)).toEqual({});
    expect(goesTo(parts as Parameters<typeof apart>[2], outside)).toEqual({ p0: 'node-1a' });
  });
});

test('K48: an empty selector is about all namespaces', () => {
  const [pod] = labelled(1, web, {}, { namespace: 'anywhere' });
  const pods = labelled(1, { app: 'api' }, apart(host, web, { namespaceSelector: {} }));
  const bound = [{ pod: pod!, on: 'node-1a' }];
  expect(nominated(planned({ pods, nodes: [nodeIn('1a')], bound }))).toEqual({});
});

describe('K49: default spread', () => {
  const defaults = (selectors: [string, Record<string, string>][]) => ({
    constraints: [{ topologyKey: zone, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const }],
    selectors: new Map(selectors.map(([key, matchLabels]) => [`shop/${key}`, [{ matchLabels }]])),
  });

  test('is given to Pods that something selects and that have none of their own', () => {
    const defaultSpread = defaults(['p0', 'p1', 'p2'].map((key) => [key, web]));
    const plan = planned({ pods: labelled(3, web), defaultSpread });
    expect(perZone(plan)).toEqual({ '1a': 1, '1b': 1, '1c': 1 });
  });

  test('leaves other Pods alone', () => {
    const own = labelled(3, web, spread(host, web, { maxSkew: 3 }));
    const given = defaults(['p0', 'p1', 'p2'].map((key) => [key, web]));
    expect(groups(planned({ pods: own, defaultSpread: given }))).toHaveLength(1);
    expect(groups(planned({ pods: labelled(3, web), defaultSpread: defaults([]) }))).toHaveLength(
      1,
    );
  });
});

test('a Pod without any rule goes where rules of others leave room', () => {
  const plan = planned({ pods: [...labelled(2, web, apart(host, web)), pod('plain')] });
  expect(groups(plan)).toEqual([['p0', 'plain'], ['p1']]);
});
