import { globSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const page = 'docs/reference/karpenter-behaviour.md';
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');

interface Line {
  readonly number: string;
  readonly here: string;
  /** Test files. */
  readonly shownBy: readonly string[];
}

/** `| K13 | what Karpenter does | same | [daemon-sets](../../scheduling/daemon-sets.test.ts) |` */
function linesOf(text: string): Line[] {
  return text.split('\n').flatMap((line) => {
    const [, number = '', , here = '', links = ''] = line.split('|').map((cell) => cell.trim());
    const shownBy = [...links.matchAll(/\]\(\.\.\/\.\.\/([^)]+)\)/g)].map(([, file = '']) => file);
    return /^[KF]\d+$/.test(number) ? [{ number, here, shownBy }] : [];
  });
}

/** Files by the numbers that titles of their tests begin with: K2 and K3 before a colon, and then what is shown. */
function numbered(): Map<string, string[]> {
  const files = globSync('*/**/*.test.ts', { cwd: root })
    .filter((file) => !/^(node_modules|dist)\//.test(file))
    .toSorted();
  const found = new Map<string, string[]>();
  for (const file of files) {
    const titles = read(file).matchAll(/['`]((?:[KF]\d+ )*[KF]\d+): /g);
    const numbers = new Set([...titles].flatMap(([, all = '']) => all.split(' ')));
    for (const number of numbers) found.set(number, [...(found.get(number) ?? []), file]);
  }
  return found;
}

const lines = linesOf(read(page));

test('the page has each behaviour and each kind of fault, in order', () => {
  const behaviours = Array.from({ length: 51 }, (_, index) => `K${index + 1}`);
  const faults = [1, 2, 3, 4, 5, 17, 19, 20, 22, 25].map((row) => `F${row}`);
  expect(lines.map(({ number }) => number)).toEqual([...behaviours, ...faults]);
});

test('each line names exactly the tests that carry its number, and no test a number that is not there', () => {
  const told = lines.flatMap(({ number, shownBy }) =>
    shownBy.length > 0 ? [[number, shownBy]] : [],
  );
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(numbered()));
});

test('what is said to hold is shown, and what does not hold yet says why', () => {
  const claimed = lines.filter(({ here }) => !here.startsWith('not yet: '));
  expect(claimed.filter(({ shownBy }) => shownBy.length === 0)).toEqual([]);
  const behaviours = lines.filter(({ number }) => number.startsWith('K'));
  expect(behaviours.filter(({ here }) => !/^(same|differs: |not yet: )/.test(here))).toEqual([]);
});
