import { expect, test } from 'vitest';

import { shownBy } from './troubles/shown-by.ts';
import { troubles } from './troubles/troubles.ts';

const shown = shownBy();
const numbers = troubles.map((_, index) => `T${index + 1}`);

test('there are 33 troubles', () => {
  expect(numbers).toHaveLength(33);
});

test('each is shown by a test whose title begins with its number', () => {
  expect(numbers.filter((number) => !shown.has(number))).toEqual([]);
});

test('no test has a number that is not among them', () => {
  expect([...shown.keys()].filter((number) => !numbers.includes(number))).toEqual([]);
});
