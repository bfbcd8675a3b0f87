import fc from 'fast-check';
import { expect, test } from 'vitest';

import { labels } from '#schemas/names.ts';

import { solve } from '../solve.ts';
import { node, pod, problem } from '../testing/build.ts';
import { labelled, spread } from '../testing/rules.ts';

/** More nodes than a block has. */
const rooms = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 40, maxLength: 120 });
const needs = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 60 });

test('passing over full blocks finds the same place as asking node by node', () => {
  fc.assert(
    fc.property(rooms, needs, (free, asked) => {
      const nodes = free.map((cpu, index) => node(`n${1000 + index}`, { cpu: `${cpu}` }));
      const pods = asked.map((cpu, index) => pod(`p${1000 + index}`, { cpu: `${cpu}` }));
      const { nominations } = solve(problem({ nodes, pods, bound: [] }));

      const left = [...free];
      const order = [...asked.entries()].toSorted(([i, a], [j, b]) => b - a || i - j);
      const expected = order.flatMap(([index, cpu]) => {
        const at = left.findIndex((room) => room >= cpu);
        if (at < 0) return [];
        left[at]! -= cpu;
        return [[`shop/p${1000 + index}`, `n${1000 + at}`] as const];
      });
      expect(new Map(nominations)).toEqual(new Map(expected));
    }),
  );
});

test('a spread over many nodes of three zones stays even until one zone is full', () => {
  const nodes = Array.from({ length: 99 }, (_, index) =>
    node(
      `n${1000 + index}`,
      { cpu: index % 3 === 0 && index > 30 ? '0' : '1' },
      { labels: { [labels.zone]: ['1a', '1b', '1c'][index % 3]! } },
    ),
  );
  const web = { app: 'web' };
  const pods = labelled(60, web, spread(labels.zone, web));
  const { nominations, unschedulable } = solve(problem({ nodes, pods, bound: [] }));
  const zones = Map.groupBy(nominations.values(), (name) => (Number(name.slice(1)) - 1000) % 3);
  // Zone 1a has 11 nodes with room, so the others may have 12.
  expect([...zones.values()].map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([
    11, 12, 12,
  ]);
  expect(unschedulable.size).toBe(25);
});
