import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file that is made from the schema, the rules or the codes. */
export interface Generated {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Writes what differs; gives the paths that were written. */
export function write(files: readonly Generated[]): string[] {
  const stale = files.filter(({ path, text }) => read(path) !== text);
  for (const { path, text } of stale) {
    mkdirSync(dirname(resolve(root, path)), { recursive: true });
    writeFileSync(resolve(root, path), text);
  }
  return stale.map(({ path }) => path);
}

/** One line for each file that would change, with how much and where it begins; empty when all are as they should be. */
export function differences(files: readonly Generated[]): string[] {
  return files.flatMap(({ path, text }) => {
    const present = read(path);
    if (present === text) return [];
    return [present === undefined ? `${path}: is missing` : `${path}: ${summary(present, text)}`];
  });
}

function read(path: string): string | undefined {
  const file = resolve(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function summary(present: string, wanted: string): string {
  const [old, now] = [present.split('\n'), wanted.split('\n')];
  const first = now.findIndex((line, index) => line !== old[index]);
  const at = first < 0 ? now.length : first;
  return `${countMissing(now, old)} lines to add, ${countMissing(old, now)} to remove, from line ${at + 1}: ${JSON.stringify(now[at] ?? '')}`;
}

function countMissing(lines: readonly string[], among: readonly string[]): number {
  const known = new Set(among);
  return lines.filter((line) => !known.has(line)).length;
}
