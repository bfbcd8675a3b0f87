import { describe, expect, test } from 'vitest';

import type { Pod } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import { simulateRemoval } from './consolidation.ts';
import type { BoundPod, NodeInSight, Problem } from './solver.ts';
import { node, pod, pods, pool, problem, size } from './testing/build.ts';
import { apart, labelled } from './testing/rules.ts';

/** A node of 4 vCPUs that its Pods fill as far as they ask. */
function used(name: string, vcpus: number): NodeInSight {
  return node(name, { cpu: '4' }, { requested: { cpu: `${vcpus}` } });
}

const on = (name: string, ...all: readonly Pod[]): BoundPod[] =>
  all.map((one) => ({ pod: one, on: name }));
const cluster = (parts: Partial<Problem>): Problem =>
  problem({ pools: [pool('web')], bound: [], ...parts });

describe('when nodes are removed', () => {
  test('their Pods move to nodes with room, and no machine is needed', () => {
    const [one, two] = pods(2);
    const given = cluster({
      nodes: [used('a', 2), used('b', 2)],
      bound: [...on('a', one!, two!), ...on('b', pod('x', { cpu: '2' }))],
    });
    expect(simulateRemoval(given, new Set(['a']), [one!, two!])).toMatchObject({
      fits: true,
      claims: [],
      price: 0,
      moves: new Map([
        ['shop/p0', 'b'],
        ['shop/p1', 'b'],
      ]),
    });
  });

  test('together, a smaller machine may do for all of them', () => {
    const all = pods(3, { cpu: '600m' });
    const given = cluster({ nodes: [used('a', 1), used('b', 1), used('c', 1)] });
    const removal = simulateRemoval(given, new Set(['a', 'b', 'c']), all);
    expect(removal.claims.map(({ instanceTypes }) => instanceTypes[0]?.name)).toEqual(['m.2']);
    expect(removal).toMatchObject({ fits: true, price: 0.2 });
  });

  test('a Pod without another place strands, with the reason', () => {
    const [huge] = pods(1, { cpu: '9' });
    const removal = simulateRemoval(cluster({ nodes: [used('a', 4)] }), new Set(['a']), [huge!]);
    expect(removal.fits).toBe(false);
    expect(removal.stranded.get('shop/p0')).toMatchObject([{ reason: 'Resources' }]);
  });

  test('the pool must have room for the new machine while the old one is there', () => {
    const full = pool('web', { limits: { nodes: '1' }, remaining: { nodes: '0' } });
    const given = cluster({ nodes: [used('a', 1)], pools: [full] });
    const removal = simulateRemoval(given, new Set(['a']), pods(1));
    expect(removal.stranded.get('shop/p0')).toMatchObject([{ reason: 'Limit', resource: 'nodes' }]);
  });

  test('a Pod that is pending anyway competes for the room and decides nothing', () => {
    const pending = pod('pending', { cpu: '9' });
    const given = cluster({ pods: [pending], nodes: [used('a', 1), used('b', 1)] });
    expect(simulateRemoval(given, new Set(['a']), pods(1))).toMatchObject({
      fits: true,
      moves: new Map([['shop/p0', 'b']]),
      stranded: new Map(),
    });
  });

  test('what their Pods kept away is kept away no more', () => {
    const lonely = { app: 'lonely' };
    const [first] = labelled(1, lonely, apart(labels.hostname, lonely), { name: 'first' });
    const [second] = labelled(1, lonely, apart(labels.hostname, lonely), { name: 'second' });
    const given = cluster({
      nodes: [used('a', 1), used('b', 1)],
      bound: [...on('a', first!), ...on('b', second!)],
    });
    expect(simulateRemoval(given, new Set(['a']), [first!])).toMatchObject({
      fits: true,
      claims: [{ pods: ['shop/first0'] }],
    });
    expect(simulateRemoval(given, new Set(['a', 'b']), [first!, second!]).claims).toHaveLength(2);
  });

  test('a price that nobody knows is not taken for nothing', () => {
    const unknown = size(4);
    const offerings = unknown.offerings.map((offering) => ({ ...offering, price: undefined }));
    const given = cluster({
      nodes: [used('a', 1)],
      pools: [pool('web', { sizes: [{ ...unknown, offerings }] })],
    });
    expect(simulateRemoval(given, new Set(['a']), pods(1))).toMatchObject({
      fits: true,
      price: undefined,
    });
  });
});
