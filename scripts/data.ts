/**
 * `npm run data -- <folder>`: makes the files of instance types and prices from recorded facts.
 * With `--check` it writes nothing and ends with 1 when a file is not as it would be made.
 */
import { readAws, readGcp } from './data/recorded.ts';
import { factFile } from './data/text.ts';
import { differences, write } from './generate/files.ts';

const [folder] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
if (folder === undefined) {
  console.error('data: name the folder of recorded facts: npm run data -- <folder> [--check]');
  process.exit(2);
}
const files = [readAws(folder), readGcp(folder)].map(factFile);

if (process.argv.includes('--check')) {
  const stale = differences(files);
  for (const line of stale) console.error(`data: ${line.slice(0, 200)}`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  write(files);
  for (const { path, text } of files) console.log(`data: ${path}: ${text.length} bytes`);
}
