import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { labels } from '#schemas/names.ts';
import { describe as told, violations } from '#schemas/rules/evaluate.ts';
import { pool, requirement } from '#schemas/rules/samples.ts';

import { fromSelector, wellKnown } from './requirements.ts';

/** Each line of the table that people choose keys from: `| key | values | older name |`. */
const page = readFileSync(new URL('../docs/reference/requirements.md', import.meta.url), 'utf8');
const lines = page.split('\n').flatMap((line) => {
  const [, key, values = '', older] = line.split('|').map((cell) => cell.trim());
  const name = key && code(key)[0];
  return name === undefined ? [] : [{ key: name, values: code(values), older: code(older)[0] }];
});

function code(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
}

const forPods: ReadonlySet<string> = new Set([labels.nodePool]);
const refused = (...asked: Parameters<typeof requirement>) =>
  violations(pool([requirement(...asked)]), { operation: 'CREATE' });

describe('the page of requirements', () => {
  test('has each key that a machine always has, and no other', () => {
    expect(new Set(lines.map(({ key }) => key))).toEqual(wellKnown);
  });

  test.each(lines.filter(({ key }) => !forPods.has(key)))(
    '$key may be asked for by each value that it shows',
    ({ key, values }) => {
      expect(values.length).toBeGreaterThan(0);
      expect(values.flatMap((value) => refused(key, 'In', value)).map(told)).toEqual([]);
    },
  );

  test.each([...forPods])('%s is for Pods alone', (key) => {
    expect(refused(key, 'In', 'web').map((one) => one.code)).toEqual(['KPU106']);
  });

  test.each(lines.filter(({ older }) => older !== undefined))(
    '$older means $key',
    ({ key, older = '' }) => {
      const asked = fromSelector([{ key: older, operator: 'Exists' }]);
      expect([...asked.keys()]).toEqual([key]);
    },
  );

  test('names keys that are refused', () => {
    const [, text = ''] =
      /Keys that the operator[^:]*:([^.]*\.sh`[^;]*?)\. What no machine/.exec(page) ?? [];
    const keys = code(text).filter((key) => key.includes('/'));
    expect(keys.length).toBe(5);
    for (const key of keys)
      expect(refused(key, 'Exists').map((one) => one.code)).toContain('KPU106');
  });
});
