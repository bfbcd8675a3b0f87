import { describe, expect, test } from 'vitest';

import type { PodSpec } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import { solve } from './solve.ts';
import type { Plan, Problem } from './solver.ts';
import { daemonSet, node, pod, pods, pool, problem, size } from './testing/build.ts';

const solved = (parts: Partial<Problem>): Plan => solve(problem(parts));
const sizesOf = ({ claims }: Plan) =>
  claims.map(({ instanceTypes, pods: planned }) => [instanceTypes[0]?.name, planned.length]);
const refusalOf = (plan: Plan, name = 'p0') => plan.unschedulable.get(`shop/${name}`);
const mustBe = (
  key: string,
  operator: 'In' | 'NotIn' | 'Exists' | 'Gt',
  ...values: string[]
): Partial<PodSpec> => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }],
      },
    },
  },
});

describe('a Pod without a node', () => {
  test('gets the cheapest machine that carries it', () => {
    const [claim] = solved({ pods: pods(1, { cpu: '3' }), pools: [pool('web')] }).claims;
    expect(claim).toMatchObject({
      nodePool: 'web',
      pods: ['shop/p0'],
      requests: { cpu: '3', pods: '1' },
    });
    expect(claim?.requirements).toEqual([
      { key: labels.capacityType, operator: 'In', values: ['on-demand'] },
      { key: labels.instanceType, operator: 'In', values: ['m.4', 'm.8'] },
    ]);
  });

  test('shares a machine while one is large enough', () => {
    expect(sizesOf(solved({ pods: pods(12), pools: [pool('web')] }))).toEqual([
      ['m.8', 8],
      ['m.4', 4],
    ]);
  });

  test('goes to a node in sight before a new one, and to a node before a claim', () => {
    const nodes = [
      node('a-claim', { cpu: '1' }, { kind: 'claim' }),
      node('host', { cpu: '2' }, { requested: { cpu: '1' } }),
    ];
    const plan = solved({ pods: pods(3), nodes, pools: [pool('web')] });
    expect([...plan.nominations]).toEqual([
      ['shop/p0', 'host'],
      ['shop/p1', 'a-claim'],
    ]);
    expect(plan.claims).toHaveLength(1);
  });

  test('leaves room for the DaemonSets that will land there', () => {
    const agents = [
      daemonSet({ cpu: '1' }),
      daemonSet({ cpu: '7' }, { tolerations: [] }),
      daemonSet({ cpu: '7' }, { nodeSelector: { disk: 'ssd' } }),
    ];
    const plan = solved({ pods: pods(1, { cpu: '4' }), pools: [pool('web')], daemonSets: agents });
    expect(sizesOf(plan)).toEqual([['m.8', 1]]);
    expect(plan.claims[0]?.requests).toEqual({ cpu: '5', pods: '2' });
  });

  test('is told the nearest miss when no machine is large enough', () => {
    const plan = solved({ pods: pods(1, { cpu: '70' }), pools: [pool('web')] });
    expect(refusalOf(plan)).toEqual([
      {
        pool: 'web',
        reason: 'Resources',
        resource: 'cpu',
        message: 'needs 70 vCPU, the largest machine has 8 vCPU to give',
      },
    ]);
  });

  test('without any pool is unschedulable, with nobody to give a reason', () => {
    expect(refusalOf(solved({ pods: pods(1) }))).toEqual([]);
  });
});

describe('pools', () => {
  test('K26: are asked by weight, heaviest first', () => {
    const pools = [pool('light', { weight: 1 }), pool('heavy', { weight: 50 }), pool('none')];
    expect(solved({ pods: pods(1), pools }).claims[0]?.nodePool).toBe('heavy');
  });

  test('of too small a size are passed over', () => {
    const pools = [
      pool('small', { weight: 9, sizes: [size(2)] }),
      pool('large', { sizes: [size(16)] }),
    ];
    expect(solved({ pods: pods(1, { cpu: '9' }), pools }).claims[0]?.nodePool).toBe('large');
  });

  test('with a taint take only Pods that tolerate it', () => {
    const taint = { key: 'team', value: 'red', effect: 'NoSchedule' } as const;
    const pools = [pool('red', { taints: [taint] })];
    expect(refusalOf(solved({ pods: pods(1), pools }))).toMatchObject([
      { reason: 'Taints', message: 'does not tolerate the taint team=red:NoSchedule' },
    ]);
    const tolerations = [{ operator: 'Exists' as const }];
    expect(solved({ pods: pods(1, {}, { tolerations }), pools }).claims).toHaveLength(1);
  });

  test('take no Pod that does not tolerate the vendor taint', () => {
    const plan = solved({ pods: pods(1, {}, { tolerations: [] }), pools: [pool('web')] });
    expect(refusalOf(plan)).toMatchObject([{ reason: 'Taints' }]);
  });

  test('that allow only spot never launch', () => {
    const requirements = [{ key: labels.capacityType, operator: 'In' as const, values: ['spot'] }];
    const plan = solved({ pods: pods(1), pools: [pool('spot', { requirements })] });
    expect(refusalOf(plan)).toMatchObject([
      { reason: 'Requirements', message: expect.stringContaining('on-demand') },
    ]);
  });

  test('ask for a choice of sizes with minValues', () => {
    const requirements = [{ key: labels.instanceType, operator: 'Exists' as const, minValues: 3 }];
    const pools = [pool('web', { requirements })];
    const [claim] = solved({ pods: pods(1, { cpu: '2' }), pools }).claims;
    expect(claim?.requirements).toContainEqual({
      key: labels.instanceType,
      operator: 'In',
      values: ['m.2', 'm.4', 'm.8'],
      minValues: 3,
    });
    expect(refusalOf(solved({ pods: pods(1, { cpu: '3' }), pools }))).toMatchObject([
      { reason: 'Requirements' },
    ]);
  });
});

describe('K11 K12: limits', () => {
  test('hold within a pass, nodes too, and the refusal tells use and need', () => {
    const pools = [
      pool('web', {
        limits: { cpu: '32', nodes: '3' },
        remaining: { cpu: '2', nodes: '2' },
        sizes: [size(2)],
      }),
    ];
    const plan = solved({ pods: pods(2, { cpu: '2' }), pools });
    expect(plan.claims).toHaveLength(1);
    expect(refusalOf(plan, 'p1')).toEqual([
      {
        pool: 'web',
        reason: 'Limit',
        resource: 'cpu',
        message:
          'limit cpu 32 of NodePool web is reached: 32 vCPU in use, one more machine takes 2 vCPU',
      },
    ]);
  });

  test('leave smaller sizes when the larger would pass them', () => {
    const pools = [pool('web', { limits: { cpu: '6' } })];
    expect(sizesOf(solved({ pods: pods(6), pools }))).toEqual([
      ['m.4', 4],
      ['m.2', 2],
    ]);
  });

  test('of memory are told in binary units', () => {
    const pools = [pool('web', { limits: { memory: '10Gi' }, remaining: { memory: '1Gi' } })];
    expect(refusalOf(solved({ pods: pods(1), pools }))).toMatchObject([
      {
        message:
          'limit memory 10Gi of NodePool web is reached: 9Gi memory in use, one more machine takes 8Gi memory',
      },
    ]);
  });
});

describe('what a Pod asks of labels', () => {
  test('narrows the claim to zone and size', () => {
    const spec = { nodeSelector: { [labels.zone]: '1b', [labels.instanceVcpus]: '4' } };
    const [claim] = solved({ pods: pods(1, {}, spec), pools: [pool('web')] }).claims;
    expect(claim?.requirements).toContainEqual({
      key: labels.zone,
      operator: 'In',
      values: ['1b'],
    });
    expect(claim?.instanceTypes.map(({ name }) => name)).toEqual(['m.4']);
  });

  test('of two Pods that exclude each other makes two claims', () => {
    const zoned = (name: string, zone: string) =>
      pod(name, {}, { nodeSelector: { [labels.zone]: zone } });
    expect(
      solved({ pods: [zoned('a', '1a'), zoned('b', '1b')], pools: [pool('web')] }).claims,
    ).toHaveLength(2);
  });

  test('may hold in any term of its affinity', () => {
    const term = (zone: string) => ({
      matchExpressions: [{ key: labels.zone, operator: 'In' as const, values: [zone] }],
    });
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{}, term('9z'), term('1b')],
        },
      },
    };
    const [claim] = solved({ pods: pods(1, {}, { affinity }), pools: [pool('web')] }).claims;
    expect(claim?.requirements).toContainEqual({
      key: labels.zone,
      operator: 'In',
      values: ['1b'],
    });
  });

  test('counts availability in the allowed zones only', () => {
    const sizes = [
      size(2, { zones: ['1a'], available: false }),
      size(4, { zones: ['1b'], available: false }),
    ];
    expect(refusalOf(solved({ pods: pods(1), pools: [pool('web', { sizes })] }))).toMatchObject([
      { reason: 'NoOfferings', message: 'no capacity now for m.2, m.4 in the allowed zones' },
    ]);
  });

  test('a custom label must be given by the pool, as one value in the end', () => {
    const requirements = [
      { key: 'tier', operator: 'In' as const, values: ['gold', 'blue', 'red'] },
    ];
    const pools = [pool('web', { requirements, labels: { team: 'shop' } })];
    const claimFor = (spec: Partial<PodSpec>) => solved({ pods: pods(1, {}, spec), pools });

    const [claim] = claimFor({
      nodeSelector: { team: 'shop' },
      ...mustBe('tier', 'NotIn', 'blue'),
    }).claims;
    expect(claim?.requirements).toContainEqual({ key: 'tier', operator: 'In', values: ['gold'] });
    expect(claim?.requirements.map(({ key }) => key)).not.toContain('team');
    expect(refusalOf(claimFor({ nodeSelector: { team: 'other' } }))).toMatchObject([
      { message: 'asks for team In [other], and its nodes have team In [shop]' },
    ]);
    expect(refusalOf(claimFor({ nodeSelector: { rack: '1' } }))).toMatchObject([
      { message: 'asks for rack In [1], and it gives its nodes no label rack' },
    ]);
  });

  test('a label that stays open is given to no Node, so nobody may count on it', () => {
    const pools = [pool('web', { requirements: [{ key: 'tier', operator: 'Exists' }] })];
    expect(refusalOf(solved({ pods: pods(1, {}, mustBe('tier', 'Exists')), pools }))).toMatchObject(
      [{ reason: 'Requirements' }],
    );
    expect(
      solved({ pods: pods(1, {}, { nodeSelector: { tier: 'gold' } }), pools }).claims[0]
        ?.requirements,
    ).toContainEqual({
      key: 'tier',
      operator: 'In',
      values: ['gold'],
    });
  });

  test('K29: host names and Karpenter’s own labels are not for new nodes; to exclude a host is fine', () => {
    const refused = (key: string) =>
      refusalOf(
        solved({ pods: pods(1, {}, { nodeSelector: { [key]: 'x' } }), pools: [pool('web')] }),
      );
    expect(refused(labels.hostname)).toMatchObject([{ reason: 'Restricted' }]);
    expect(refused(labels.registered)).toMatchObject([{ reason: 'Restricted' }]);
    const plan = solved({
      pods: pods(1, {}, mustBe(labels.hostname, 'NotIn', 'bad')),
      pools: [pool('web')],
    });
    expect(plan.claims[0]?.requirements.map(({ key }) => key)).not.toContain(labels.hostname);
  });

  test('must hold for whatever a claim on its way becomes', () => {
    const requirements = [{ key: labels.zone, operator: 'In' as const, values: ['1a', '1b'] }];
    const nodes = [node('c', { cpu: '8' }, { kind: 'claim', requirements })];
    const goesTo = (zones: string[]) =>
      solved({ pods: pods(1, {}, mustBe(labels.zone, 'In', ...zones)), nodes }).nominations.get(
        'shop/p0',
      );
    expect(goesTo(['1a'])).toBeUndefined();
    expect(goesTo(['1a', '1b', '1c'])).toBe('c');
  });
});

test('a Pod whose affinity no new node can meet is told so', () => {
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{}] } },
  };
  const plan = solved({ pods: pods(1, {}, { affinity }), pools: [pool('web')] });
  expect(refusalOf(plan)).toMatchObject([{ reason: 'Requirements' }]);
});
