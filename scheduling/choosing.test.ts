/** Which pool and which sizes Pods get. Numbers are those of docs/reference/karpenter-behaviour.md. */
import { describe, expect, test } from 'vitest';

import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { Requirement } from '#schemas/karpenter/types.ts';
import type { NodeSelectorRequirement } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import { mustBe, pod, pods, pool, size } from './testing/build.ts';
import { cheapest, groups, planned, refusalsOf, refused, zoned } from './testing/plans.ts';

const selecting = (nodeSelector: Record<string, string>) => pods(1, {}, { nodeSelector });

describe('K26: of several pools', () => {
  const light = pool('light', { sizes: zoned, weight: 1, labels: { team: 'blue' } });
  const heavy = pool('heavy', { sizes: zoned, weight: 100, labels: { team: 'red' } });
  const poolFor = (nodeSelector: Record<string, string>) =>
    planned({ pods: selecting(nodeSelector), pools: [light, heavy] }).claims.map(
      ({ nodePool }) => nodePool,
    );

  test('the heaviest is taken, even where another has cheaper machines', () => {
    const dear = { ...heavy, instanceTypes: [size(8, { price: 50 })] };
    const { claims } = planned({ pods: pods(1), pools: [light, dear] });
    expect(claims.map(({ nodePool }) => nodePool)).toEqual(['heavy']);
  });

  test('one that the Pod names beats weight, and so does one with the labels that it wants', () => {
    expect(poolFor({})).toEqual(['heavy']);
    expect(poolFor({ [labels.nodePool]: 'light' })).toEqual(['light']);
    expect(poolFor({ team: 'blue' })).toEqual(['light']);
  });

  test('one that is not there is waited for', () => {
    expect(poolFor({ [labels.nodePool]: 'gone' })).toEqual([]);
  });
});

describe('K29: labels that Pods may select', () => {
  test.each([
    [labels.hostname, 'Restricted'],
    [labels.registered, 'Restricted'],
    [labels.initialized, 'Restricted'],
    ['team.karpenter.sh/own', 'Restricted'],
    ['example.com/nobody-gives', 'Requirements'],
  ])('%s has no machine made for it', (key, reason) => {
    const plan = planned({ pods: selecting({ [key]: 'x' }) });
    expect(refusalsOf(plan, 'p0')).toMatchObject([{ reason }]);
  });

  test.each([
    [labels.zone, '1b'],
    [labels.instanceType, 'm.4'],
    [labels.arch, 'amd64'],
    [labels.os, 'linux'],
    [labels.capacityType, 'on-demand'],
    [labels.nodePool, 'web'],
    [labels.instanceVcpus, '4'],
  ])('%s can be had of any pool', (key, value) => {
    expect(groups(planned({ pods: selecting({ [key]: value }) }))).toEqual([['p0']]);
  });

  test.each([
    'kubernetes.io/team',
    'node.kubernetes.io/team',
    'team.node.kubernetes.io/of',
    'k8s.io/x',
  ])('%s can be had of a pool that gives it', (key) => {
    const pools = [pool('web', { sizes: zoned, labels: { [key]: 'red' } })];
    expect(groups(planned({ pods: selecting({ [key]: 'red' }), pools }))).toEqual([['p0']]);
    expect(refused(planned({ pods: selecting({ [key]: 'red' }) }))).toEqual(['p0']);
  });
});

test('K8: a Pod gets room for the largest of its init containers', () => {
  const takes = (cpu: string) => ({ name: 'c', resources: { requests: { cpu } } });
  const starting = (cpu: string) => [
    pod('p', {}, { containers: [takes('1')], initContainers: [takes(cpu)] }),
  ];
  expect(cheapest({ pods: starting('500m') })).toEqual(['m.2']);
  expect(cheapest({ pods: starting('3') })).toEqual(['m.4']);
  expect(refused(planned({ pods: starting('9') }))).toEqual(['p']);
});

describe('K30: machines are filled', () => {
  test('by large and small Pods together', () => {
    const large = Array.from({ length: 3 }, (_, index) => pod(`large${index}`, { cpu: '3' }));
    const small = Array.from({ length: 14 }, (_, index) => pod(`small${index}`, { cpu: '500m' }));
    const { claims } = planned({ pods: [...small, ...large] });
    expect(claims.map(({ requests }) => requests['cpu'])).toEqual(['8', '8']);
  });

  test('by Pods that ask for nothing too, and for zero of what nobody offers', () => {
    const nothing = pod('nothing', { cpu: '0', 'example.com/gpu': '0' });
    expect(groups(planned({ pods: [nothing, ...pods(1)] }))).toEqual([['nothing', 'p0']]);
  });

  test('with what a runtime class takes on top', () => {
    expect(cheapest({ pods: pods(1, { cpu: '2' }, { overhead: { cpu: '1' } }) })).toEqual(['m.4']);
  });
});

describe('K38: capacity that is reserved', () => {
  const asking = (...values: string[]) => [
    pool('web', {
      sizes: zoned,
      requirements: [{ key: labels.capacityType, operator: 'In', values }],
    }),
  ];

  test('is not used here: a pool that allows it beside on-demand gets on-demand', () => {
    const { claims } = planned({ pods: pods(1), pools: asking('reserved', 'on-demand') });
    expect(claims[0]?.requirements).toContainEqual({
      key: labels.capacityType,
      operator: 'In',
      values: ['on-demand'],
    });
  });

  test('and one that allows nothing else gets nothing, nor does such a Pod', () => {
    expect(refused(planned({ pods: pods(1), pools: asking('reserved') }))).toEqual(['p0']);
    expect(refused(planned({ pods: selecting({ [labels.capacityType]: 'reserved' }) }))).toEqual([
      'p0',
    ]);
  });
});

describe('K27: minValues that cannot be had', () => {
  const wanting = (minValues: number, key: string = labels.instanceType): Requirement[] => [
    { key, operator: 'Exists', minValues },
  ];

  test('in a strict cluster let another pool be asked, in a lenient one the heaviest stays', () => {
    const heavy = pool('heavy', { sizes: zoned, weight: 9, requirements: wanting(5) });
    const light = pool('light', { sizes: zoned });
    const poolUnder = (minValuesPolicy: 'Strict' | 'BestEffort') =>
      planned({ pods: pods(1), pools: [light, heavy], minValuesPolicy }).claims.map(
        ({ nodePool }) => nodePool,
      );
    expect(poolUnder('Strict')).toEqual(['light']);
    expect(poolUnder('BestEffort')).toEqual(['heavy']);
  });

  test('because a volume is in one zone only, count the zones that are left', () => {
    const inZone: NodeSelectorRequirement[] = [
      { key: labels.zone, operator: 'In', values: ['1a'] },
    ];
    const claimed = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
    const given = {
      pods: [pod('p', {}, claimed)],
      volumes: new Map([['shop/p', { nodes: [inZone], attached: {} }]]),
      pools: [pool('web', { sizes: zoned, requirements: wanting(2, labels.zone) })],
    };
    expect(refused(planned(given))).toEqual(['p']);
    const { claims } = planned({ ...given, minValuesPolicy: 'BestEffort' });
    expect(claims).toMatchObject([{ isMinValuesRelaxed: true }]);
    expect(claims[0]?.requirements).toContainEqual(
      expect.objectContaining({ key: labels.zone, values: ['1a'], minValues: 1 }),
    );
  });
});

describe('K51: minValues go with any operator', () => {
  /** `a.2`, `b.2`, … : two families of each size. */
  const families = (...vcpus: number[]): InstanceType[] =>
    vcpus.flatMap((count) =>
      ['a', 'b'].map((family) => {
        const { labels: own, ...rest } = size(count);
        const name = `${family}.${count}`;
        const named = { [labels.instanceType]: name, [labels.instanceFamily]: family };
        return { ...rest, name, labels: { ...own, ...named } };
      }),
    );
  const sizes = families(2, 4, 8, 16);
  const claimOf = (requirements: Requirement[], cpu = '1') =>
    planned({ pods: pods(1, { cpu }), pools: [pool('web', { sizes, requirements })] }).claims[0];
  const vcpus = (operator: Requirement['operator'], values: string[], minValues: number) =>
    ({ key: labels.instanceVcpus, operator, values, minValues }) as const;

  test.each<[Requirement['operator'], string[], number]>([
    ['In', ['2', '4', '8'], 3],
    ['NotIn', ['2'], 3],
    ['Exists', [], 4],
    ['Gt', ['2'], 3],
    ['Gte', ['4'], 3],
    ['Lt', ['16'], 3],
    ['Lte', ['8'], 3],
  ])('%s %j leaves so many sizes to ask for: %i', (operator, values, most) => {
    expect(claimOf([vcpus(operator, values, most)])).toBeDefined();
    expect(claimOf([vcpus(operator, values, most + 1)])).toBeUndefined();
  });

  test('the greater of two counts, over what both leave', () => {
    const between = (least: number, most: number) => [
      vcpus('Gt', ['2'], least),
      vcpus('Lt', ['16'], most),
    ];
    expect(claimOf(between(1, 2))).toBeDefined();
    expect(claimOf(between(1, 3))).toBeUndefined();
    expect(claimOf(between(3, 1))).toBeUndefined();
  });

  test('each of several labels has its own', () => {
    const both = (minFamilies: number, minSizes: number): Requirement[] => [
      { key: labels.instanceFamily, operator: 'Exists', minValues: minFamilies },
      { key: labels.instanceType, operator: 'Exists', minValues: minSizes },
    ];
    expect(claimOf(both(2, 4), '5')).toBeDefined();
    expect(claimOf(both(3, 4), '5')).toBeUndefined();
    expect(claimOf(both(2, 5), '5')).toBeUndefined();
  });

  test('a Pod that narrows the choice is refused as one that is too big', () => {
    const requirements = [vcpus('Exists', [], 3)];
    const narrowing = mustBe({ key: labels.instanceVcpus, operator: 'Gt', values: ['4'] });
    const pools = [pool('web', { sizes, requirements })];
    expect(refused(planned({ pods: pods(1, {}, narrowing), pools }))).toEqual(['p0']);
    expect(claimOf(requirements, '5')).toBeUndefined();
    expect(claimOf(requirements, '3')).toBeDefined();
  });
});

test('K17: a zone or size that the pool gives as a label is asked for in the claim, whose launch goes by that', () => {
  const given = { [labels.zone]: '1c', [labels.instanceVcpus]: '4', team: 'red' };
  const { claims } = planned({
    pods: pods(1),
    pools: [pool('web', { sizes: zoned, labels: given })],
  });
  expect(claims[0]?.requirements).toEqual([
    { key: labels.capacityType, operator: 'In', values: ['on-demand'] },
    { key: labels.instanceVcpus, operator: 'In', values: ['4'] },
    { key: labels.instanceType, operator: 'In', values: ['m.4'] },
    { key: labels.zone, operator: 'In', values: ['1c'] },
  ]);
});
