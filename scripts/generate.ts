/**
 * `npm run generate`: makes from schemas/ what others read: the CRD, the types, the defaults and the reference pages.
 * With `--check` it writes nothing and ends with 1 when a file is not as it would be made.
 */
import { generateAll } from './generate/all.ts';
import { differences, write } from './generate/files.ts';

const files = await generateAll();

if (process.argv.includes('--check')) {
  const stale = differences(files);
  for (const line of stale) console.error(`generate: ${line}`);
  if (stale.length > 0) console.error('generate: run `npm run generate` and commit the result');
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  const written = write(files);
  for (const path of written) console.log(`generate: ${path}`);
  console.log(`generate: ${written.length} of ${files.length} files were written`);
}
