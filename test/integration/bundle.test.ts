import { rolldown, type OutputChunk } from 'rolldown';
import { beforeAll, expect, test } from 'vitest';

import config from '../../rolldown.config.ts';

let chunks: readonly OutputChunk[];

beforeAll(async () => {
  const { output: outputs, ...input } = config;
  const [options] = [outputs].flat();
  const bundle = await rolldown(input);
  const { output } = await bundle.generate(options);
  await bundle.close();
  chunks = output.filter((one) => one.type === 'chunk');
});

/** Node keeps the text of what it runs: in one byte for each letter, or in two for all if one needs them. */
test('no file has a letter that makes node keep two bytes for each of its letters', () => {
  const wide = chunks.flatMap(({ fileName, code }) =>
    [...code.matchAll(/[\u0100-\u{10ffff}]/gu)].map(
      ({ 0: letter, index }) => `${fileName}: ${letter} in ${code.slice(index - 20, index + 20)}`,
    ),
  );
  expect(chunks.length).toBeGreaterThan(2);
  expect(wide).toEqual([]);
});

test('the webhook loads no cloud', () => {
  const loaded = reached('webhook/main.js');
  expect([...loaded].filter((name) => /cloud|dns|checksum|clients/.test(name))).toEqual([]);
});

/** A chunk and all that it imports before it runs. */
function reached(fileName: string, seen = new Set<string>()): Set<string> {
  if (seen.has(fileName)) return seen;
  seen.add(fileName);
  const chunk = chunks.find((one) => one.fileName === fileName);
  for (const name of chunk?.imports ?? []) reached(name, seen);
  return seen;
}
