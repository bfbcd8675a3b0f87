import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { rules } from '../table.ts';

test('the page on Pods has every code that somebody who makes a Pod may meet', () => {
  const page = readFileSync(new URL('../../../docs/concepts/pods.md', import.meta.url), 'utf8');
  const ofPods = rules.filter(({ target }) => target.plural === 'pods').map(({ code }) => code);
  expect(ofPods.length).toBeGreaterThan(15);
  expect([...new Set(ofPods)].filter((code) => !page.includes(code))).toEqual([]);
});
