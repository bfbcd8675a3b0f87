/** Pods of DaemonSets on nodes that are not there yet. Numbers are those of docs/reference/karpenter-behaviour.md. */
import { describe, expect, test } from 'vitest';

import { labels } from '#schemas/names.ts';

import {
  daemonSet,
  hostPort,
  mayBe,
  mustBe,
  pod,
  pods,
  pool,
  toKraftlet,
} from './testing/build.ts';
import { cheapest, groups, planned, refusalsOf, refused, zoned } from './testing/plans.ts';

test('K13: leave room on each size, and take their host ports there', () => {
  const agent = daemonSet({ cpu: '1' }, hostPort(9100));
  const daemonSets = [{ ...agent, spec: { template: { spec: { ...agent.spec!.template.spec } } } }];
  expect(refusalsOf(planned({ pods: [pod('p', {}, hostPort(9100))], daemonSets }), 'p')).toEqual([
    expect.objectContaining({ reason: 'Resources', message: expect.stringContaining('9100') }),
  ]);
  expect(groups(planned({ pods: [pod('p', {}, hostPort(9101))], daemonSets }))).toEqual([['p']]);
});

test('K13: that are only on some sizes make those larger', () => {
  const daemonSets = [daemonSet({ cpu: '3' }, { nodeSelector: { [labels.instanceVcpus]: '4' } })];
  expect(cheapest({ pods: pods(1, { cpu: '2' }), daemonSets })).toEqual(['m.2']);
  expect(cheapest({ pods: pods(1, { cpu: '3' }), daemonSets })).toEqual(['m.8']);
});

test.each([
  ['NotIn of a label that the node lacks', 'NotIn', ['x'], true],
  ['In of a label that the node lacks', 'In', ['x'], false],
  ['Exists of a label that the node lacks', 'Exists', [], false],
  ['DoesNotExist of a label that the node lacks', 'DoesNotExist', [], true],
] as const)('K14: %s', (_, operator, values, isThere) => {
  const expression = { key: 'disk', operator, values: [...values] };
  const daemonSets = [daemonSet({ cpu: '1' }, mustBe(expression))];
  expect(cheapest({ pods: pods(1, { cpu: '2' }), daemonSets })).toEqual([isThere ? 'm.4' : 'm.2']);
});

test('K15: go to nodes that would rather not have them', () => {
  const unwanted = [{ key: 'slow', effect: 'PreferNoSchedule' as const }];
  const pools = [pool('web', { sizes: zoned, taints: unwanted })];
  const daemonSets = [daemonSet({ cpu: '1' })];
  expect(cheapest({ pods: pods(1, { cpu: '2' }), pools, daemonSets })).toEqual(['m.4']);
});

test('K16: are counted once for a claim', () => {
  const plan = planned({ pods: pods(3), daemonSets: [daemonSet({ cpu: '500m' })] });
  expect(plan.claims.map(({ requests }) => requests)).toEqual([{ cpu: '3500m', pods: '4' }]);
});

test('that ask for what a node does not offer, or for more than it has, are never there', () => {
  const daemonSets = [
    daemonSet({ 'example.com/gpu': '1', cpu: '1' }),
    daemonSet({ cpu: '3' }, { nodeSelector: { [labels.instanceVcpus]: '2' } }),
  ];
  expect(cheapest({ pods: pods(1, { cpu: '2' }), daemonSets })).toEqual(['m.2']);
});

describe('K13: room for DaemonSets', () => {
  test('may leave none for the Pod', () => {
    const daemonSets = [daemonSet({ cpu: '5' })];
    expect(refused(planned({ pods: pods(1, { cpu: '5' }), daemonSets }))).toEqual(['p0']);
    const smaller = [daemonSet({ cpu: '3' })];
    expect(cheapest({ pods: pods(1, { cpu: '3' }), daemonSets: smaller })).toEqual(['m.8']);
  });

  test('is kept although their Pods do not tolerate a startup taint: it goes away', () => {
    const starting = pool('web', { sizes: zoned });
    starting.pool.spec.template.spec.startupTaints = [{ key: 'starting', effect: 'NoExecute' }];
    const daemonSets = [daemonSet({ cpu: '1' })];
    const given = { pods: pods(1, { cpu: '2' }), pools: [starting], daemonSets };
    expect(cheapest(given)).toEqual(['m.4']);
  });

  test('is not kept for those that do not tolerate the taints of the pool', () => {
    const taints = [{ key: 'team', value: 'red', effect: 'NoSchedule' as const }];
    const pools = [pool('red', { sizes: zoned, taints })];
    const tolerations = [toKraftlet, { key: 'team', operator: 'Exists' as const }];
    const given = { pods: pods(1, { cpu: '2' }, { tolerations }), pools };
    expect(cheapest({ ...given, daemonSets: [daemonSet({ cpu: '1' })] })).toEqual(['m.2']);
    const tolerant = [daemonSet({ cpu: '1' }, { tolerations })];
    expect(cheapest({ ...given, daemonSets: tolerant })).toEqual(['m.4']);
  });

  test('is what they are limited to, where nothing is asked for', () => {
    const containers = [{ name: 'agent', resources: { limits: { cpu: '1' } } }];
    const daemonSets = [daemonSet({}, { containers })];
    expect(cheapest({ pods: pods(1, { cpu: '2' }), daemonSets })).toEqual(['m.4']);
  });

  test('and their host ports are free on sizes where they are not', () => {
    const spec = { ...hostPort(9100), nodeSelector: { [labels.instanceVcpus]: '2' } };
    const given = { daemonSets: [daemonSet({}, spec)] };
    const taking = (cpu: string) => {
      const [container] = hostPort(9100).containers!;
      const containers = [{ ...container!, resources: { requests: { cpu } } }];
      return pod('p', {}, { containers });
    };
    expect(cheapest({ ...given, pods: [taking('1')] })).toEqual(['m.4']);
    expect(cheapest({ ...given, pods: [pod('p', { cpu: '1' })] })).toEqual(['m.2']);
  });
});

describe('K14: a DaemonSet is where', () => {
  const asked = {
    pods: pods(1, { cpu: '2' }),
    pools: [pool('web', { sizes: zoned, labels: { disk: 'ssd' } })],
  };

  test('a label of the pool says so', () => {
    const on = (disk: string) => [daemonSet({ cpu: '1' }, { nodeSelector: { disk } })];
    expect(cheapest({ ...asked, daemonSets: on('ssd') })).toEqual(['m.4']);
    expect(cheapest({ ...asked, daemonSets: on('hdd') })).toEqual(['m.2']);
  });

  test('any of its terms does', () => {
    const [never, here] = ['hdd', 'ssd'].map((disk) => [
      { key: 'disk', operator: 'In' as const, values: [disk] },
    ]);
    expect(
      cheapest({ ...asked, daemonSets: [daemonSet({ cpu: '1' }, mayBe(never!, here!))] }),
    ).toEqual(['m.4']);
    expect(
      cheapest({ ...asked, daemonSets: [daemonSet({ cpu: '1' }, mayBe(never!, never!))] }),
    ).toEqual(['m.2']);
  });

  test('it would rather not be', () => {
    const elsewhere = { key: 'disk', operator: 'In' as const, values: ['hdd'] };
    const preferredDuringSchedulingIgnoredDuringExecution = [
      { weight: 1, preference: { matchExpressions: [elsewhere] } },
    ];
    const spec = {
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } },
    };
    expect(cheapest({ ...asked, daemonSets: [daemonSet({ cpu: '1' }, spec)] })).toEqual(['m.4']);
  });

  test('it has to wait until the Node is registered and initialised', () => {
    const spec = mustBe(
      { key: labels.registered, operator: 'In', values: ['true'] },
      { key: labels.initialized, operator: 'In', values: ['true'] },
    );
    expect(cheapest({ ...asked, daemonSets: [daemonSet({ cpu: '1' }, spec)] })).toEqual(['m.4']);
  });
});
