import { globSync, readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { codes } from '#schemas/errors/codes.ts';

/** Not a code of ours: it stands for one that nobody knows. */
const unknown = 'KPU999';

const rooms = '{cli,controller,kube,machine,pki,sandbox,scheduling,schemas,webhook}/**/*.ts';
const root = new URL('../', import.meta.url);

test('every code in the table is given somewhere: people do not look for what never comes', () => {
  const given = globSync(rooms, { cwd: root })
    .filter((file) => !file.startsWith('schemas/errors/') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(new URL(file, root), 'utf8'))
    .join('\n');
  expect(Object.keys(codes).filter((code) => !given.includes(code))).toEqual([]);
});

test('every code that any room gives is explained in the table', () => {
  const files = globSync(rooms, { cwd: root });
  const unexplained = files.flatMap((file) => {
    const text = readFileSync(new URL(file, root), 'utf8');
    const given = text.match(/KPU\d{3}/g) ?? [];
    return given
      .filter((code) => code !== unknown && !(code in codes))
      .map((code) => `${file}: ${code}`);
  });
  expect(files.length).toBeGreaterThan(50);
  expect(unexplained).toEqual([]);
});
