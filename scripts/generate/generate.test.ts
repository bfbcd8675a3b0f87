import { beforeAll, expect, test } from 'vitest';

import { generateAll } from './all.ts';
import { differences, type Generated } from './files.ts';

let files: Generated[];

beforeAll(async () => {
  files = await generateAll();
}, 60_000); // seconds on a busy machine

test('what stands in the repository is what the schema, the rules and the codes say', () => {
  expect(differences(files)).toEqual([]);
});

test('a file that was edited by hand is found, with where it differs', () => {
  const edited = files.map(({ path, text }) => ({ path, text: text.replace('KPU101', 'KPU999') }));
  expect(differences(edited)).toContainEqual(
    expect.stringMatching(
      /^docs\/reference\/codes\.md: 1 lines to add, 1 to remove, from line \d+: "### KPU999/,
    ),
  );
});

test('a file that is not there yet is named', () => {
  expect(differences([{ path: 'docs/reference/none.md', text: 'x' }])).toEqual([
    'docs/reference/none.md: is missing',
  ]);
});
