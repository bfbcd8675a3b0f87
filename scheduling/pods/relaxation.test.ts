import { expect, test } from 'vitest';

import type { PodSpec } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import { rulesOf } from '../topology/terms.ts';
import { levelsOf, type Level } from './relaxation.ts';

const term = (topologyKey: string, weight: number) => ({
  weight,
  podAffinityTerm: { topologyKey, labelSelector: {} },
});
const node = (zone: string, weight: number) => ({
  weight,
  preference: { matchExpressions: [{ key: labels.zone, operator: 'In' as const, values: [zone] }] },
});
const preferred = <T>(all: T[]) => ({ preferredDuringSchedulingIgnoredDuringExecution: all });

const wishful: PodSpec = {
  containers: [],
  affinity: {
    nodeAffinity: preferred([node('light', 1), node('heavy', 50)]),
    podAffinity: preferred([term('near-light', 1), term('near-heavy', 50)]),
    podAntiAffinity: preferred([term('away', 10)]),
  },
  topologySpreadConstraints: [
    { topologyKey: 'hard', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
    { topologyKey: 'soft', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' },
  ],
};

/** What is still wished for, in a line. */
function text({
  affinity,
  antiAffinity,
  preferred: one,
  spread,
  toleratesUnwanted,
}: Level): string {
  const keys = [...affinity, ...antiAffinity].map(({ topologyKey }) => topologyKey);
  const nodes = one?.matchExpressions?.[0]?.values ?? [];
  const spreads = spread.map(({ topologyKey }) => topologyKey);
  return [...keys, ...nodes, ...spreads, ...(toleratesUnwanted ? ['unwanted'] : [])].join(' ');
}

const levels = (policy: 'Respect' | 'Ignore', hasUnwanted = false): string[] =>
  levelsOf(wishful, rulesOf(wishful), policy, hasUnwanted).map(text);

test('wishes are dropped one by one: near, away, node, spread, and last what is unwanted', () => {
  expect(levels('Respect', true)).toEqual([
    'near-heavy near-light away heavy soft',
    'near-light away heavy soft',
    'away heavy soft',
    'heavy soft',
    'light soft',
    'soft',
    '',
    'unwanted',
  ]);
});

test('nobody has to tolerate what is not there, and ignored wishes are no wishes', () => {
  expect(levels('Respect').at(-1)).toBe('');
  expect(levels('Ignore')).toEqual(['']);
  expect(levels('Ignore', true)).toEqual(['', 'unwanted']);
});
