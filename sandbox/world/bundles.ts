import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rolldown = `${root}/node_modules/rolldown/bin/cli.mjs`;

/** What the image has as its working directory, as `npm run build` makes it; what was in the folder is gone. */
export async function bundleInto(folder: string): Promise<void> {
  await promisify(execFile)(process.execPath, [rolldown, '-c', '--dir', folder], { cwd: root });
}
