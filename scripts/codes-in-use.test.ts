import { globSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { codes } from '#schemas/errors/codes.ts';

/** Not a code of ours: it stands for one that nobody knows. */
const unknown = 'KPU999';

test('every code that any room gives is explained in the table', () => {
  const files = globSync(
    '{controller,kube,machine,pki,sandbox,scheduling,schemas,webhook}/**/*.ts',
    {
      cwd: new URL('../', import.meta.url),
    },
  );
  const unexplained = files.flatMap((file) => {
    const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
    const given = text.match(/KPU\d{3}/g) ?? [];
    return given
      .filter((code) => code !== unknown && !(code in codes))
      .map((code) => `${file}: ${code}`);
  });
  expect(files.length).toBeGreaterThan(50);
  expect(unexplained).toEqual([]);
});
