/** Where a single Pod can go. Numbers are those of docs/reference/karpenter-behaviour.md. */
import { describe, expect, test } from 'vitest';

import type { NodeSelectorRequirement, Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import type { PodVolumes, Problem } from './solver.ts';
import { hostPort, mustBe, node, pod, pods, pool, size, toKraftlet } from './testing/build.ts';
import {
  cheapest,
  groups,
  nodeIn,
  nominated,
  perZone,
  planned,
  refusalsOf,
  refused,
  zoned,
} from './testing/plans.ts';

describe('volumes', () => {
  const claimed: Partial<PodSpec> = {
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  };
  const inZones = (...values: string[]): NodeSelectorRequirement[] => [
    { key: labels.zone, operator: 'In', values },
  ];
  const facts = (parts: Partial<PodVolumes>): Pick<Problem, 'volumes' | 'pods'> => ({
    pods: [pod('p', { cpu: '1' }, claimed)],
    volumes: new Map([['shop/p', { nodes: [], attached: {}, ...parts }]]),
  });

  test('K18: that nothing can be said about keep the Pod from every node', () => {
    const trouble = { message: 'its volume claim "data" is lost', code: 'KPU353' } as const;
    const plan = planned({ ...facts({ trouble }), nodes: [nodeIn('1a')] });
    expect(refusalsOf(plan, 'p')).toMatchObject([trouble]);
  });

  test('K19: bring the machine into their zone', () => {
    expect(perZone(planned(facts({ nodes: [inZones('1b')] })))).toEqual({ '1b': 1 });
  });

  test('K20 K21: may be had in one of several places, of which one can be reached', () => {
    const nodes = [nodeIn('1b')];
    const given = facts({ nodes: [inZones('9z'), inZones('1b')] });
    expect(nominated(planned({ ...given, nodes }))).toEqual({ p: 'node-1b' });
    expect(refused(planned(facts({ nodes: [inZones('9z')] })))).toEqual(['p']);
  });

  test('K22: that could be anywhere say nothing', () => {
    expect(groups(planned(facts({})))).toEqual([['p']]);
  });

  test('K35: are attached to a node only up to its limit, each once', () => {
    const limited = { ...nodeIn('1a'), attachLimits: { ebs: 2 }, attached: { ebs: ['v1', 'v2'] } };
    const goesTo = (attached: PodVolumes['attached']) =>
      nominated(planned({ ...facts({ attached }), nodes: [limited], pools: [] }));
    expect(goesTo({ ebs: ['v3'] })).toEqual({});
    expect(goesTo({ ebs: ['v2'] })).toEqual({ p: 'node-1a' });
    expect(goesTo({ efs: ['v3'] })).toEqual({ p: 'node-1a' });
  });

  describe('of a driver', () => {
    const ofDriver = (driver: string) => facts({ drivers: [driver] });
    const other = (parts: object) => ({ ...nodeIn('1a'), ...parts });

    test('go to nodes that say nothing of drivers, and to those that have it', () => {
      expect(nominated(planned({ ...ofDriver('ebs'), nodes: [other({})] }))).toEqual({
        p: 'node-1a',
      });
      const nodes = [other({ drivers: ['ebs'] })];
      expect(nominated(planned({ ...ofDriver('ebs'), nodes }))).toEqual({ p: 'node-1a' });
    });

    test('pass over nodes and pools that have others', () => {
      const pools = [
        { ...pool('plain', { weight: 2 }), drivers: [] },
        { ...pool('disks'), drivers: ['ebs', 'efs'] },
      ];
      const plan = planned({ ...ofDriver('ebs'), nodes: [other({ drivers: ['efs'] })], pools });
      expect(plan.claims.map(({ nodePool }) => nodePool)).toEqual(['disks']);
    });

    test.each([
      ['ebs.csi.aws.com', 'spec.kraftlet.values.csi.plugins["ebs.csi.aws.com"]'],
      ['kubernetes.io/nfs', 'is no CSI driver'],
      ['ukc-volume', 'live and die with its machine'],
    ])('that no pool has are told with what to do: %s', (driver, told) => {
      const plan = planned({ ...ofDriver(driver), pools: [{ ...pool('web'), drivers: [] }] });
      const message = expect.stringContaining(told) as string;
      expect(refusalsOf(plan, 'p')).toEqual([
        { pool: 'web', reason: 'Unsupported', code: 'KPU354', message },
      ]);
      expect(refusalsOf(plan, 'p')[0]?.message).toContain('UnikraftNodeClass default');
    });
  });
});

describe('wishes', () => {
  const wish = (weight: number, ...zones: string[]) => ({
    weight,
    preference: {
      matchExpressions: [{ key: labels.zone, operator: 'In' as const, values: zones }],
    },
  });
  const wishing = (...all: ReturnType<typeof wish>[]): Partial<PodSpec> => ({
    affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: all } },
  });

  test('K24: about the node hold while they can, the heaviest alone, then lighter ones', () => {
    const spec = wishing(wish(1, '1a'), wish(9, '1b'));
    expect(perZone(planned({ pods: pods(1, {}, spec) }))).toEqual({ '1b': 1 });
    const next = wishing(wish(1, '1a'), wish(9, '9z'));
    expect(perZone(planned({ pods: pods(1, {}, next) }))).toEqual({ '1a': 1 });
    expect(groups(planned({ pods: pods(1, {}, wishing(wish(1, '9z'))) }))).toEqual([['p0']]);
  });

  test('are passed over when the cluster says so', () => {
    const spec = wishing(wish(9, '1b'));
    const plan = planned({ pods: pods(1, {}, spec), preferencePolicy: 'Ignore' });
    expect(perZone(plan)).toEqual({ any: 1 });
  });

  test('K23: the last required term is never dropped, and any of several will do', () => {
    const terms = (...zones: string[]): Partial<PodSpec> => ({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: zones.map((zone) => ({
              matchExpressions: [{ key: labels.zone, operator: 'In' as const, values: [zone] }],
            })),
          },
        },
      },
    });
    expect(perZone(planned({ pods: pods(1, {}, terms('9z', '1c')) }))).toEqual({ '1c': 1 });
    expect(refused(planned({ pods: pods(1, {}, terms('9y', '9z')) }))).toEqual(['p0']);
  });

  test('K25: a node that would rather have others is taken last', () => {
    const unwanted = [{ key: 'slow', effect: 'PreferNoSchedule' as const }];
    const slow = pool('slow', { sizes: zoned, taints: unwanted, weight: 9 });
    const fast = pool('fast', { sizes: [size(2)], weight: 1 });
    const poolsOf = (given: Pod[]) =>
      planned({ pods: given, pools: [slow, fast] }).claims.map(({ nodePool }) => nodePool);
    expect(poolsOf(pods(1))).toEqual(['fast']);
    expect(poolsOf(pods(1, { cpu: '4' }))).toEqual(['slow']);
    const tolerations = [toKraftlet, { key: 'slow', operator: 'Exists' as const }];
    expect(poolsOf(pods(1, {}, { tolerations }))).toEqual(['slow']);
  });
});

describe('K27 K51: minValues', () => {
  const families = (minValues: number) => [
    { key: labels.instanceType, operator: 'Exists' as const, minValues },
  ];
  const solved = (minValues: number, policy: 'Strict' | 'BestEffort', cpu = '3') =>
    planned({
      pods: pods(1, { cpu }),
      pools: [pool('web', { sizes: zoned, requirements: families(minValues) })],
      minValuesPolicy: policy,
    });

  test('that can be had are in the claim', () => {
    expect(solved(2, 'Strict').claims[0]?.requirements).toContainEqual({
      key: labels.instanceType,
      operator: 'In',
      values: ['m.4', 'm.8'],
      minValues: 2,
    });
  });

  test('that cannot be had stop a strict cluster, and are lowered in a lenient one', () => {
    expect(refusalsOf(solved(3, 'Strict'), 'p0')).toMatchObject([{ reason: 'Requirements' }]);
    expect(solved(3, 'BestEffort').claims).toMatchObject([{ isMinValuesRelaxed: true }]);
    expect(solved(3, 'BestEffort').claims[0]?.requirements).toContainEqual(
      expect.objectContaining({ key: labels.instanceType, minValues: 2 }),
    );
    expect(solved(3, 'BestEffort', '1').claims[0]).not.toHaveProperty('isMinValuesRelaxed');
  });

  test('keep Pods from a claim that would lose its choice', () => {
    const given = { pods: pods(4, { cpu: '2' }) };
    const pools = [pool('web', { sizes: zoned, requirements: families(2) })];
    expect(groups(planned({ ...given, pools })).map(({ length }) => length)).toEqual([2, 2]);
  });

  test('count values that the narrowed claim still allows', () => {
    const zones = [{ key: labels.zone, operator: 'Exists' as const, minValues: 2 }];
    const pools = [pool('web', { sizes: zoned, requirements: zones })];
    const spec = { nodeSelector: { [labels.zone]: '1a' } };
    expect(refused(planned({ pods: pods(1, {}, spec), pools }))).toEqual(['p0']);
  });

  test('are kept by the sizes that a claim lists, be they dear', () => {
    const many = Array.from({ length: 70 }, (_, index) => ({ ...size(2), name: `m.2-${index}` }));
    const named = many.map((one) => ({
      ...one,
      labels: { ...one.labels, [labels.instanceType]: one.name },
    }));
    const dear = { ...size(64), labels: { ...size(64).labels, [labels.instanceFamily]: 'x' } };
    const requirements = [
      { key: labels.instanceFamily, operator: 'Exists' as const, minValues: 2 },
    ];
    const pools = [pool('web', { sizes: [...named, dear], requirements })];
    const [claim] = planned({ pods: pods(1), pools }).claims;
    expect(claim?.instanceTypes).toHaveLength(60);
    expect(claim?.instanceTypes.at(-1)?.name).toBe('m.64');
  });
});

describe('K28: what a Pod asks of a label that', () => {
  const defined = pool('web', {
    sizes: zoned,
    requirements: [{ key: 'gen', operator: 'In', values: ['3', '4', '5'] }],
  });
  const table = [
    ['In', ['4'], true, false],
    ['In', ['9'], false, false],
    ['NotIn', ['4'], true, true],
    ['NotIn', ['3', '4', '5'], false, true],
    ['Exists', [], true, false],
    ['DoesNotExist', [], false, true],
    ['Gt', ['4'], true, false],
    ['Gt', ['5'], false, false],
    ['Gte', ['5'], true, false],
    ['Gte', ['6'], false, false],
    ['Lt', ['4'], true, false],
    ['Lt', ['3'], false, false],
    ['Lte', ['3'], true, false],
    ['Lte', ['2'], false, false],
  ] as const;
  const can = (
    pools: Problem['pools'],
    operator: NodeSelectorRequirement['operator'],
    values: readonly string[],
  ) =>
    refused(
      planned({ pods: pods(1, {}, mustBe({ key: 'gen', operator, values: [...values] })), pools }),
    ).length === 0;

  test.each(table)('the pool gives: %s %j', (operator, values, isDefined) => {
    expect(can([defined], operator, values)).toBe(isDefined);
  });

  test.each(table)('nobody gives: %s %j', (operator, values, _, isUndefined) => {
    expect(can([pool('web', { sizes: zoned })], operator, values)).toBe(isUndefined);
  });

  test.each([
    ['In', ['4', '9'], true],
    ['In', ['9'], false],
    ['NotIn', ['4'], false],
    ['NotIn', ['9'], true],
    ['Exists', [], true],
    ['DoesNotExist', [], false],
    ['Gt', ['3'], true],
    ['Gt', ['4'], false],
    ['Gte', ['4'], true],
    ['Lt', ['5'], true],
    ['Lt', ['4'], false],
    ['Lte', ['4'], true],
  ] as const)('a node has as 4: %s %j', (operator, values, isThere) => {
    const nodes = [{ ...nodeIn('1a'), labels: { gen: '4' } }];
    const spec = mustBe({ key: 'gen', operator, values: [...values] });
    const plan = planned({ pods: pods(1, {}, spec), nodes, pools: [] });
    expect(nominated(plan)).toEqual(isThere ? { p0: 'node-1a' } : {});
  });
});

describe('room', () => {
  test('K30 K50: the cheapest size that carries the Pods is the first', () => {
    const dear = size(4, { price: 9 });
    const pools = [pool('web', { sizes: [dear, size(2), size(8)] })];
    expect(cheapest({ pods: pods(1, { cpu: '3' }), pools })).toEqual(['m.8']);
    expect(cheapest({ pods: pods(1), pools })).toEqual(['m.2']);
  });

  test('K50: the price that counts is that of the zone', () => {
    const near = size(2, { zones: ['1a'], price: 5 });
    const far = size(4, { zones: ['1a', '1b'], price: 1 });
    const pools = [pool('web', { sizes: [near, far] })];
    const at = (zone: string) => ({
      pods: pods(1, {}, { nodeSelector: { [labels.zone]: zone } }),
      pools,
    });
    expect(cheapest(at('1a'))).toEqual(['m.4']);
    expect(cheapest(at('1b'))).toEqual(['m.4']);
  });

  test('K31: a node takes so many Pods as it says', () => {
    const small = { ...size(8), capacity: { ...size(8).capacity, pods: '3' } };
    const plan = planned({
      pods: pods(7, { cpu: '100m' }),
      pools: [pool('web', { sizes: [small] })],
    });
    expect(groups(plan).map(({ length }) => length)).toEqual([3, 3, 1]);
  });

  test('K32: a claim on its way is filled before another is made', () => {
    const coming = { ...nodeIn('1a', 'coming'), kind: 'claim' as const };
    expect(nominated(planned({ pods: pods(8), nodes: [coming] }))).toMatchObject({ p7: 'coming' });
  });

  test('K33: taints that are left must be tolerated', () => {
    const tainted = { ...nodeIn('1a'), taints: [{ key: 'cni', effect: 'NoSchedule' as const }] };
    expect(nominated(planned({ pods: pods(1), nodes: [tainted] }))).toEqual({});
  });

  test('K34: a node that nobody owns is used', () => {
    const own = { ...nodeIn('1a', 'host'), taints: [] };
    const plain = pod('p', {}, { tolerations: [] });
    expect(nominated(planned({ pods: [plain], nodes: [own] }))).toEqual({ p: 'host' });
  });

  test('host ports clash by protocol, port and address', () => {
    const takes = (...specs: Partial<PodSpec>[]) =>
      groups(planned({ pods: specs.map((spec, index) => pod(`p${index}`, {}, spec)) })).length;
    expect(takes(hostPort(80), hostPort(80))).toBe(2);
    expect(takes(hostPort(80), hostPort(81))).toBe(1);
    expect(takes(hostPort(80), hostPort(80, undefined, 'UDP'))).toBe(1);
    expect(takes(hostPort(80, '10.0.0.1'), hostPort(80, '10.0.0.2'))).toBe(1);
    expect(takes(hostPort(80, '10.0.0.1'), hostPort(80))).toBe(2);
  });

  test('host ports of Pods that are there are taken', () => {
    const bound = [{ pod: pod('old', {}, hostPort(80)), on: 'node-1a' }];
    const plan = planned({ pods: [pod('p', {}, hostPort(80))], nodes: [nodeIn('1a')], bound });
    expect(nominated(plan)).toEqual({});
  });

  test('a resource that nobody offers is told', () => {
    const plan = planned({
      pods: [pod('p', { 'example.com/gpu': '1' })],
      nodes: [node('n', { cpu: '9' })],
    });
    expect(refusalsOf(plan, 'p')).toEqual([
      {
        pool: 'web',
        reason: 'Resources',
        resource: 'example.com/gpu',
        message: 'needs 1 example.com/gpu, the largest machine has 0 example.com/gpu to give',
      },
    ]);
  });
});
