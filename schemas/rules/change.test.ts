import { readFileSync } from 'node:fs';

import { describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';

import { changeRules, withCounts, type MachineCounts } from './change.ts';
import { violations, type Violation } from './evaluate.ts';
import { nodeClass, pool, taint } from './samples.ts';

const update = { operation: 'UPDATE', oldObject: nodeClass() };
const changed = violations(nodeClass({ tags: { team: 'a' } }), update);

function told(found: readonly Violation[], counts?: MachineCounts): string[] {
  return withCounts(found, () => counts).map(({ message }) => message);
}

describe('a change of what machines are made from', () => {
  test('is told before it happens', () => {
    expect(changed.map(({ code, severity, path }) => [code, severity, path])).toEqual([
      ['KPU124', 'warn', 'spec'],
    ]);
    expect(told(changed)).toEqual([
      'This change replaces machines made before it, as they expire or are deleted.',
    ]);
  });

  test.each<[string, [string, number][], string[]]>([
    [
      'of one',
      [['web', 1]],
      ['This change replaces 1 machine in pool web as they expire or are deleted.'],
    ],
    [
      'of several, in order',
      [
        ['web', 9],
        ['batch', 3],
        ['idle', 0],
      ],
      ['This change replaces 12 machines in pools batch, web as they expire or are deleted.'],
    ],
    [
      'of more pools than fit',
      ['e', 'd', 'c', 'b', 'a'].map((name) => [name, 2]),
      [
        'This change replaces 10 machines in pools a, b, c and 2 more as they expire or are deleted.',
      ],
    ],
    ['of none', [['web', 0]], []],
    ['of no pool', [], []],
  ])('says how much it is about: %s', (_, counts, messages) => {
    expect(told(changed, new Map(counts))).toEqual(messages);
  });

  test('is told of every field of a node class but the deadlines, which are behaviour', () => {
    const file = new URL('../nodeclass/unikraftnodeclass.schema.yaml', import.meta.url);
    const schema = parse(readFileSync(file, 'utf8')) as {
      definitions: { UnikraftNodeClassSpec: { properties: Record<string, unknown> } };
    };
    const fields = Object.keys(schema.definitions.UnikraftNodeClassSpec.properties);
    const rule = changeRules.find(({ path }) => path === 'spec');
    const silent = fields.filter((field) => !rule?.cel.includes(`self.${field} ==`));
    expect(silent).toEqual(['deadlines']);
  });

  test('of labels and taints at once is one warning when it is counted, beside whatever else is said', () => {
    const before = pool([], { team: 'a' });
    const after = pool([], { team: 'b' }, { taints: [taint('karpenter.sh/x', 'NoSchedule')] });
    const found = violations(after, { operation: 'UPDATE', oldObject: before });
    expect(found.map(({ code }) => code)).toEqual(['KPU107', 'KPU124', 'KPU124']);
    expect(withCounts(found, () => new Map([['sample', 4]])).map(({ code }) => code)).toEqual([
      'KPU107',
      'KPU124',
    ]);
  });

  test('that is none leaves everything as it was found, and nobody counts', () => {
    const found = violations(pool([], { 'karpenter.sh/nodepool': 'x' }), { operation: 'CREATE' });
    const count = vi.fn<() => MachineCounts>();
    expect(withCounts(found, count)).toBe(found);
    expect(count).not.toHaveBeenCalled();
  });
});
