/** Where pending Pods can go. Numbers are those of docs/reference/karpenter-behaviour.md. */
import { describe, expect, test } from 'vitest';

import type { PodSpec } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import { solve } from './solve.ts';
import type { BoundPod, Problem } from './solver.ts';
import { mayBe, mustBe, pod, pods, pool, problem, size } from './testing/build.ts';
import { nodeIn } from './testing/plans.ts';
import { apart, labelled, near, spread } from './testing/rules.ts';

const { zone, hostname } = labels;
const web = { app: 'web' };
const all = ['1a', '1b', '1c'];
const pools = [pool('web', { sizes: [size(8, { zones: all })] })];
const nodes = all.map((name) => nodeIn(name, `n${name}`, '1'));
const selecting = (name: string): Partial<PodSpec> => ({ nodeSelector: { [zone]: name } });

/** One Pod of the kind in each of these zones. */
const at = (...names: string[]): BoundPod[] =>
  names.map((name, index) => {
    const [one] = labelled(1, web, {}, { name: `b${index}-` });
    return { pod: one!, on: `n${name}` };
  });

const zonesOf = (parts: Partial<Problem>): Record<string, number> =>
  Object.fromEntries(solve(problem({ pools, nodes, bound: [], ...parts })).zones);

describe('K39: Pods that wait are counted by the zone that they can only go to', () => {
  test('nobody is counted where nobody waits', () => {
    expect(zonesOf({})).toEqual({});
  });

  test.each<[string, Partial<PodSpec>, Record<string, number>]>([
    ['without any rule', {}, { flexible: 2 }],
    ['that select one', selecting('1b'), { '1b': 2 }],
    ['that select one that no pool has', selecting('9z'), { '9z': 2 }],
    [
      'of either of two',
      mustBe({ key: zone, operator: 'In', values: ['1a', '1b'] }),
      { flexible: 2 },
    ],
    ['that avoid one', mustBe({ key: zone, operator: 'NotIn', values: ['1a'] }), { flexible: 2 }],
    [
      'whose terms each name another',
      mayBe(
        [{ key: zone, operator: 'In', values: ['1a'] }],
        [{ key: zone, operator: 'In', values: ['1b'] }],
      ),
      { flexible: 2 },
    ],
    [
      'whose terms name the same',
      mayBe(
        [{ key: zone, operator: 'In', values: ['1a'] }],
        [
          { key: zone, operator: 'In', values: ['1a'] },
          { key: 'x', operator: 'Exists' },
        ],
      ),
      { '1a': 2 },
    ],
    [
      'of two that exclude each other',
      { ...mustBe({ key: zone, operator: 'In', values: ['1a'] }), ...selecting('1b') },
      { none: 2 },
    ],
  ])('Pods %s', (_, spec, zones) => {
    expect(zonesOf({ pods: pods(2, { cpu: '1' }, spec) })).toEqual(zones);
  });

  test('each kind by itself, whatever they ask for and whether they get it', () => {
    const given = [
      pod('a', { cpu: '1' }, selecting('1a')),
      pod('b', { cpu: '2' }, selecting('1a')),
      pod('large', { cpu: '99' }, selecting('1b')),
      pod('c'),
    ];
    expect(zonesOf({ pods: given })).toEqual({ '1a': 2, '1b': 1, flexible: 1 });
  });

  test('wishes do not count', () => {
    const preference = { matchExpressions: [{ key: zone, operator: 'In', values: ['1a'] }] };
    const preferredDuringSchedulingIgnoredDuringExecution = [{ weight: 1, preference }];
    const spec = {
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } },
    } as Partial<PodSpec>;
    const anyway = spread(zone, web, { whenUnsatisfiable: 'ScheduleAnyway' });
    const given = [...pods(1, {}, spec), ...labelled(1, web, anyway, { name: 'w' })];
    expect(zonesOf({ pods: given, bound: at('1a', '1a', '1b', '1b') })).toEqual({ flexible: 2 });
  });

  test.each<[string, Partial<PodSpec>, string[], Record<string, number>]>([
    ['near others, in the zone of those', near(zone, web), ['1b'], { '1b': 1 }],
    ['near others of whom there are some in two', near(zone, web), ['1b', '1c'], { flexible: 1 }],
    ['near others, where there are none', near(zone, { app: 'x' }), ['1a'], { none: 1 }],
    ['apart from others, in the zone without', apart(zone, web), ['1a', '1c'], { '1b': 1 }],
    ['apart from others, who are everywhere', apart(zone, web), all, { none: 1 }],
    ['apart from others on hosts only', apart(hostname, web), all, { flexible: 1 }],
    ['spread, in the emptiest', spread(zone, web), ['1a', '1b'], { '1c': 1 }],
    ['spread, while all are even', spread(zone, web), all, { flexible: 1 }],
    [
      'spread over more zones than there are',
      spread(zone, web, { minDomains: 4 }),
      [...all, ...all],
      { none: 1 },
    ],
    [
      'spread, and kept from the emptiest',
      { ...spread(zone, web), ...selecting('1a') },
      ['1a', '1b'],
      { '1a': 1 },
    ],
  ])('a Pod that must be %s', (_, spec, bound, zones) => {
    expect(zonesOf({ pods: labelled(1, web, spec), bound: at(...bound) })).toEqual(zones);
  });

  test('the zones of volumes count', () => {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'x' } }];
    const stored = (values: string[], spec: Partial<PodSpec> = {}): Record<string, number> => {
      const own = pod('p', {}, { ...spec, volumes });
      const places = values.map((value) => [{ key: zone, operator: 'In', values: [value] }]);
      const known = { nodes: places, attached: {} } as never;
      return zonesOf({ pods: [own], volumes: new Map([['shop/p', known]]) });
    };
    expect(stored(['1a', '1b'])).toEqual({ flexible: 1 });
    expect(stored(['1a'])).toEqual({ '1a': 1 });
    expect(stored(['1b'], selecting('1a'))).toEqual({ none: 1 });
  });

  test('a Pod with something wrong goes to none, one that has to leave is not counted', () => {
    const wrong = pod('p', {}, { volumes: [{ name: 'x', persistentVolumeClaim: {} }] } as never);
    expect(zonesOf({ pods: [wrong], leaving: pods(3, {}, selecting('1a')) })).toEqual({ none: 1 });
  });

  test('what is planned in the same pass does not count yet', () => {
    const given = labelled(3, web, spread(zone, web));
    expect(zonesOf({ pods: given })).toEqual({ flexible: 3 });
  });
});
