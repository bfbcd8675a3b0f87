import { expect, test } from 'vitest';

import { codes, retired } from './codes.ts';
import type { Explanation } from './explanation.ts';

const entries: [string, Explanation][] = Object.entries(codes);

test('a code is of its chapter, and the table is in order', () => {
  const order = entries.map(([code]) => code);
  expect(order.filter((code) => !/^KPU[1-46]\d\d$/.test(code))).toEqual([]);
  expect(order).toEqual(order.toSorted());
});

test('each says what happens next and what a person can do, in sentences', () => {
  const poor = entries.filter(
    ([, { title, happens, fix }]) =>
      !/^[A-Z].*[^.]$/.test(title) || !/^[A-Z].*\.$/.test(happens) || !/^[A-Z].*\.$/.test(fix),
  );
  expect(poor).toEqual([]);
});

test('no title is given twice, or nobody could tell the codes apart', () => {
  const titles = entries.map(([, { title }]) => title);
  expect(new Set(titles).size).toBe(titles.length);
});

test('a retired code is not given again', () => {
  expect(Object.keys(retired).filter((code) => code in codes)).toEqual([]);
});
