/** Which nodes a spread looks at. Numbers are those of docs/reference/karpenter-behaviour.md. */
import { describe, expect, test } from 'vitest';

import { labels } from '#schemas/names.ts';

import { node, pool, size } from '../testing/build.ts';
import { fullIn, perZone, planned, refused } from '../testing/plans.ts';
import { labelled, spread } from '../testing/rules.ts';

const web = { app: 'web' };
const { zone } = labels;

describe('K44: a node without the key of one spread of a Pod is looked at by none of them', () => {
  const over = (...keys: string[]) => ({
    topologySpreadConstraints: keys.flatMap((key) => [
      ...spread(key, web, { maxSkew: key === 'rack' ? 9 : 1 }).topologySpreadConstraints!,
    ]),
  });
  const racks = [{ key: 'rack', operator: 'In' as const, values: ['r1'] }];
  const racked = pool('racked', {
    sizes: [size(8, { zones: ['1a', '1b'] })],
    requirements: racks,
  });
  const inRack = (name: string, at: string) =>
    node(name, { cpu: '0' }, { labels: { [zone]: at, rack: 'r1' } });

  const on = (name: string, count: number) =>
    labelled(count, web, {}, { name: `${name}-` }).map((one) => ({ pod: one, on: name }));

  test('so Pods on it do not count', () => {
    // Where racks are, 1b has one and 1a none, however many are in 1a on a node without a rack.
    const nodes = [fullIn('1a', 'bare'), inRack('first', '1b')];
    const bound = [...on('bare', 2), ...on('first', 1)];
    const pods = labelled(1, web, over(zone, 'rack'));
    expect(perZone(planned({ pods, pools: [racked], nodes, bound }))).toEqual({ '1a': 1 });
  });

  test('so it makes no domain', () => {
    const pods = labelled(6, web, over(zone, 'rack'));
    const plan = planned({ pods, pools: [racked], nodes: [fullIn('1c', 'bare')] });
    expect(perZone(plan)).toEqual({ '1a': 3, '1b': 3 });
  });

  test('so a pool whose machines lack the key makes none', () => {
    const bare = pool('bare', { sizes: [size(8, { zones: ['1c'] })] });
    const pods = labelled(6, web, over(zone, 'rack'));
    expect(perZone(planned({ pods, pools: [racked, bare] }))).toEqual({ '1a': 3, '1b': 3 });
  });

  test('yet others look at it, and wishes do not count as rules', () => {
    const pods = labelled(6, web, over(zone));
    const bare = [fullIn('1c', 'bare')];
    expect(refused(planned({ pods, pools: [racked], nodes: bare }))).toHaveLength(4);
    const [must] = spread(zone, web).topologySpreadConstraints!;
    const [wish] = spread('rack', web, {
      whenUnsatisfiable: 'ScheduleAnyway',
    }).topologySpreadConstraints!;
    const both = labelled(6, web, { topologySpreadConstraints: [must!, wish!] });
    expect(refused(planned({ pods: both, pools: [racked], nodes: bare }))).toHaveLength(4);
  });
});

describe('K44: a node that takes no new Pods, by a taint that says so', () => {
  const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' as const };
  const closed = [{ name: 'old', labels: { [zone]: '1a' }, taints: [taint] }];
  const bound = labelled(1, web, {}, { name: 'old' }).map((pod) => ({ pod, on: 'old' }));
  const pools = [pool('web', { sizes: [size(8, { zones: ['1b'] })] })];
  const perZoneOf = (parts: Parameters<typeof spread>[2]) => {
    const pods = labelled(4, web, spread(zone, web, parts));
    return perZone(planned({ pods, pools, closed, bound }));
  };

  test('counts, with its Pods', () => {
    expect(perZoneOf({})).toEqual({ '1b': 2 });
  });

  test('is no domain of a spread that honours taints', () => {
    expect(perZoneOf({ nodeTaintsPolicy: 'Honor' })).toEqual({ '1b': 4 });
  });
});
