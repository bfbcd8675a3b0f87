import { readFileSync } from 'node:fs';

import type { CloudName } from '../../cloud.ts';
import { FactFile, type Header } from '../fact-file.ts';

/** The file as it stands in the repository. */
export function factFile(cloud: CloudName): FactFile {
  return new FactFile(textOf(cloud));
}

/** The same, as if nothing had been recorded of one region. */
export function factFileWithout(cloud: CloudName, region: string): FactFile {
  const [first = '', ...lines] = textOf(cloud).trimEnd().split('\n');
  const { factors, ...header } = JSON.parse(first) as Header;
  const others = Object.entries(factors).filter(([name]) => name !== region);
  const text = [
    JSON.stringify({ ...header, factors: Object.fromEntries(others) }),
    ...lines.filter((line) => !line.startsWith(`{"region":"${region}"`)),
  ];
  return new FactFile(text.join('\n'));
}

export function textOf(cloud: CloudName): string {
  return readFileSync(new URL(`../${cloud}.jsonl`, import.meta.url), 'utf8');
}
