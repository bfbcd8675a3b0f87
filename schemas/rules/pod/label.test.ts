import { describe, expect, test } from 'vitest';

import type { KubeObject } from '../../kubernetes/meta.ts';
import { labels } from '../../names.ts';
import { compile } from '../cel.ts';
import { corpus } from '../corpus.ts';
import { violations } from '../evaluate.ts';
import { tableTroubles } from '../lint.ts';
import { concernsUs } from '../ours.ts';
import { placesAt } from '../places.ts';
import { pod } from '../samples.ts';
import { rules } from '../table.ts';
import { judgedPodsInCel, labelRule, labelViolations } from './label.ts';

const create = { operation: 'CREATE' };
const told = (object: KubeObject) => labelViolations(object, create).map(({ code }) => code);

describe('the label that opts in', () => {
  test.each(labelRule.accepts.map((sample, index) => [index, sample] as const))(
    'is well in sample %d',
    (_, sample) => expect(told(sample)).toEqual([]),
  );

  test.each(labelRule.rejects.map((sample, index) => [index, sample] as const))(
    'counts for nothing in sample %d, which is told',
    (_, sample) => expect(told(sample)).toEqual(['KPU159']),
  );

  test('is judged without CEL as by it, on every Pod of the corpus', () => {
    const holds = compile(labelRule.cel);
    const made = corpus().filter(({ object }) => object.kind === 'Pod' && object.apiVersion);
    const byCel = (object: KubeObject): boolean =>
      placesAt(object, labelRule.path).every(({ value }) => {
        if (value === null || typeof value !== 'object' || Array.isArray(value)) return true;
        return holds({ self: value });
      });
    expect(made.length).toBeGreaterThan(300);
    expect(made.map(({ object }) => told(object).length === 0)).toEqual(
      made.map(({ object }) => byCel(object)),
    );
    expect(made.filter(({ object }) => told(object).length > 0).length).toBeGreaterThan(20);
  });

  test('is asked about when a Pod is made, and of nothing but Pods', () => {
    const [bad = {}] = labelRule.rejects;
    expect(labelViolations(bad, { operation: 'UPDATE' })).toEqual([]);
    expect(labelViolations(bad, { ...create, subResource: 'resize' })).toEqual([]);
    expect(told({ ...bad, kind: 'Deployment' })).toEqual([]);
    expect(told({ ...bad, apiVersion: 'example.com/v1' })).toEqual([]);
  });

  test('makes no Pod ours: a refusal of what it will never be is none of its business', () => {
    const huge = { resources: { requests: { cpu: '100000' } } };
    const own = { labels: { [labels.inject]: 'no' } };
    const spec = { nodeSelector: { [labels.virtualKubelet]: 'false' }, tolerations: [] };
    const object = pod({ ...spec, containers: [{ name: 'a', image: 'b', ...huge }] }, own);
    expect(concernsUs(object)).toBe(false);
    expect(violations(object, create)).toEqual([]);
    expect(told(object)).toEqual(['KPU159']);
  });

  test('is asked about by the API server exactly where there is something to say', () => {
    const asks = compile(judgedPodsInCel);
    const made = corpus().filter(({ object, odd }) => object.kind === 'Pod' && !odd);
    expect(made.map(({ object }) => asks({ object }))).toEqual(
      made.map(({ object }) => concernsUs(object) || told(object).length > 0),
    );
  });
});

test('the rule beside the table has no troubles either, and a name of its own', () => {
  expect(tableTroubles([...rules, labelRule])).toEqual([]);
});
