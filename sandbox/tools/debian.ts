/** Programs out of Debian's packages, unpacked into the cache and never installed, since an installed server would also be started. */
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { SystemClock } from '#schemas/time/system-clock.ts';

import { describeExit, LocalProcess } from '../processes/local-process.ts';
import { type Command, findProgram, isExecutable } from '../processes/parent-death.ts';
import { withLock } from './lock.ts';
import type { Progress } from './progress.ts';

export interface Packages {
  readonly names: readonly string[];
  /** The last program of all, in the root: when it is there, all are. */
  readonly program: string;
  /** For people. */
  readonly title: string;
}

/**
 * @param folder  in the cache; `root` in it is what a Debian would have as `/`
 * @returns the root
 * @throws Error that says why they cannot be had
 */
export async function unpacked(
  folder: string,
  { names, program, title }: Packages,
  progress: Progress,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const root = join(folder, 'root');
  if (isExecutable(join(root, program))) return root;
  const [apt, dpkg] = [findProgram('apt-get', env), findProgram('dpkg', env)];
  if (apt === undefined || dpkg === undefined) throw new Error('there is no apt-get');
  await mkdir(folder, { recursive: true });
  await withLock(`${folder}.lock`, { clock: new SystemClock() }, async () => {
    if (isExecutable(join(root, program))) return;
    await progress.step(`Unpacking ${title} from Debian (once, some seconds)`, async () =>
      unpack(folder, names, { apt, dpkg }),
    );
  });
  return root;
}

/** Only what the system lacks is fetched: apt-get works that out as if it were to install it. */
async function unpack(
  folder: string,
  names: readonly string[],
  { apt, dpkg }: Record<'apt' | 'dpkg', string>,
): Promise<void> {
  const archives = join(folder, 'archives');
  const log = join(folder, 'unpack.log');
  const unfinished = join(folder, 'unfinished');
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(join(archives, 'partial'), { recursive: true });
  await mkdir(unfinished);
  await writeFile(log, '');
  const options = [`Dir::Cache=${folder}`, 'Debug::NoLocking=1'].flatMap((one) => ['-o', one]);
  const how = ['--yes', '--no-install-recommends', '--download-only'];
  await run([apt, ...options, ...how, 'install', ...names], log);
  for (const name of (await readdir(archives)).filter((one) => one.endsWith('.deb'))) {
    // oxlint-disable-next-line no-await-in-loop -- into one folder, one after the other
    await run([dpkg, '-x', join(archives, name), unfinished], log);
  }
  await rm(archives, { recursive: true });
  await rename(unfinished, join(folder, 'root'));
}

async function run(command: Command, log: string): Promise<void> {
  const process = LocalProcess.start({ name: 'apt', command }, log);
  const exit = await process.exited;
  if (exit.code === 0) return;
  const end = await process.lastLines(5);
  throw new Error(`${command[0]} ended with ${describeExit(exit)}:\n${end}\n`);
}
