import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

/** The list in docs/ names tests; a test that is renamed or lost is missed here. */

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(`${root}docs/reference/admission-advisories.md`, 'utf8');
const rows = page.split('\n').filter((line) => /^\| [AB]\d+ \|/.test(line));
const numbers = rows.map((row) => row.split('|')[1]?.trim());
const named = [...page.matchAll(/`([\w/.-]+\.test\.ts)`: "([^"]+)"/g)];

test('every advisory and report has a row', () => {
  const all = (letter: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
  expect(numbers).toEqual([...all('A', 15), ...all('B', 25)]);
});

describe('each test that is named is there', () => {
  test.each(named.map(([, file = '', title = '']) => [file, title]))('%s: %s', (file, title) => {
    expect(existsSync(root + file)).toBe(true);
    expect(readFileSync(root + file, 'utf8')).toContain(title);
  });
});
