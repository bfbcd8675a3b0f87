import { globSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

/** Test files by the numbers that titles of their tests begin with: T13 and T15 with a comma, a colon, and what is shown. */
export function shownBy(): Map<string, string[]> {
  const files = globSync('*/**/*.test.ts', { cwd: root })
    .filter((file) => !/^(node_modules|dist)\//.test(file))
    .toSorted();
  const found = new Map<string, string[]>();
  for (const file of files) {
    const text = readFileSync(new URL(file, root), 'utf8');
    const titles = text.matchAll(/['`]((?:T\d+,? )*T\d+): /g);
    const numbers = new Set([...titles].flatMap(([, all = '']) => all.split(/,? /)));
    for (const number of numbers) found.set(number, [...(found.get(number) ?? []), file]);
  }
  return found;
}
