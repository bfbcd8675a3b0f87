import { describe, expect, test } from 'vitest';

import { corpus } from './corpus.ts';
import { violations } from './evaluate.ts';
import { comparesWithOld } from './rule.ts';
import { rules } from './table.ts';

const cases = corpus();
const verdicts = cases.map(({ object, odd, ...review }) => ({
  odd,
  broken: violations(object, review),
}));

describe('the corpus', () => {
  test('is the same each time, so that engines in other processes judge the same', () => {
    expect(JSON.stringify(corpus())).toBe(JSON.stringify(cases));
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  });

  test('breaks every rule, and every rule but the comparing ones in a way that no sample does', () => {
    const samples = rules.flatMap(({ accepts, rejects }) => [...accepts, ...rejects]).length;
    const brokenBy = (from: number): Set<string> =>
      new Set(verdicts.slice(from).flatMap(({ broken }) => broken.map(({ rule }) => rule)));
    expect(rules.filter(({ name }) => !brokenBy(0).has(name))).toEqual([]);
    const onlySampled = rules.filter(({ name }) => !brokenBy(samples).has(name));
    expect(onlySampled.map(({ name }) => name)).toEqual([
      'pod-is-debugged-from-outside',
      'pod-is-resized-by-a-new-one',
    ]);
  });

  test('has objects that nothing is said about, and shapes that nothing can judge', () => {
    expect(
      verdicts.filter(({ odd, broken }) => !odd && broken.length === 0).length,
    ).toBeGreaterThan(100);
    const messages = verdicts.filter(({ odd }) => odd).flatMap(({ broken }) => broken);
    expect(
      messages.filter(({ message }) => message.includes('cannot be judged')).length,
    ).toBeGreaterThan(100);
  });

  test('has updates of what is bad already that change nothing, and none is judged', () => {
    const touched = cases.filter(
      ({ object, oldObject }) =>
        oldObject && (object as { spec?: unknown }).spec === (oldObject as { spec?: unknown }).spec,
    );
    const bad = touched.filter(
      ({ oldObject }) => violations(oldObject ?? {}, { operation: 'CREATE' }).length > 0,
    );
    expect(bad.length).toBeGreaterThan(50);
    expect(bad.flatMap(({ object, ...review }) => violations(object, review))).toEqual([]);
  });

  test('has names of JavaScript among labels', () => {
    const text = JSON.stringify(cases);
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(text).toContain(`"${name}":`);
    }
  });

  test('has comparing rules that are both kept and broken', () => {
    for (const { name } of rules.filter(comparesWithOld)) {
      expect(verdicts.some(({ broken }) => broken.some(({ rule }) => rule === name))).toBe(true);
    }
  });
});
