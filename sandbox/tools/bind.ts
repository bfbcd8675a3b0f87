/**
 * BIND, the DNS server by the people who wrote the book: what our own stand-in takes for right, it may not. Debian's
 * packages are unpacked into the cache, never installed, since an installed DNS server would also be started.
 */
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { SystemClock } from '#schemas/time/system-clock.ts';

import { cacheRoot } from '../cache-root.ts';
import { describeExit, LocalProcess } from '../processes/local-process.ts';
import { type Command, findProgram, isExecutable } from '../processes/parent-death.ts';
import { withLock } from './lock.ts';
import type { Progress } from './progress.ts';

/** There is no BIND, and none can be had here; the message says what to do. */
export class MissingBind extends Error {
  override readonly name = 'MissingBind';

  constructor(why: string) {
    super(
      `Dynamic updates are told to BIND too, which is not here: ${why}. Install Debian's packages bind9 and ` +
        'bind9-dnsutils, or let apt-get reach their repository; they are then unpacked into the cache, once.',
    );
  }
}

/** Programs of one BIND. */
export interface Bind {
  readonly named: string;
  readonly dig: string;
  /** What they need in their environment to find their libraries. */
  readonly env: NodeJS.ProcessEnv;
}

/** Where Debian's packages have it. */
const inPackage = { named: 'usr/sbin/named', dig: 'usr/bin/dig' };

/**
 * @returns the programs on PATH, or those of packages in the cache
 * @throws MissingBind when there are none and none can be had
 */
export async function ensureBind(progress: Progress, env = process.env): Promise<Bind> {
  const [named, dig] = [findProgram('named', env), findProgram('dig', env)];
  if (named !== undefined && dig !== undefined) return { named, dig, env };
  const folder = join(cacheRoot(env), 'bind9');
  const root = join(folder, 'root');
  const there = { named: join(root, inPackage.named), dig: join(root, inPackage.dig) };
  if (!isExecutable(there.named) || !isExecutable(there.dig)) {
    const [apt, dpkg] = [findProgram('apt-get', env), findProgram('dpkg', env)];
    if (apt === undefined || dpkg === undefined) throw new MissingBind('there is no apt-get');
    await mkdir(folder, { recursive: true });
    await withLock(`${folder}.lock`, { clock: new SystemClock() }, async () => {
      if (isExecutable(there.dig)) return;
      await progress.step('Unpacking BIND from Debian (once, some seconds)', async () =>
        unpack(folder, { apt, dpkg }),
      );
    });
  }
  return { ...there, env: { ...env, LD_LIBRARY_PATH: await librariesIn(root) } };
}

/** Only what the system lacks is fetched: apt-get works that out as if it were to install it. */
async function unpack(
  folder: string,
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
  await run([apt, ...options, ...how, 'install', 'bind9', 'bind9-dnsutils'], log);
  for (const name of (await readdir(archives)).filter((one) => one.endsWith('.deb'))) {
    // oxlint-disable-next-line no-await-in-loop -- into one folder, one after the other
    await run([dpkg, '-x', join(archives, name), unfinished], log);
  }
  await rm(archives, { recursive: true });
  await rename(unfinished, join(folder, 'root'));
}

/** Debian keeps libraries in a folder for the kind of computer. */
async function librariesIn(root: string): Promise<string> {
  const base = join(root, 'usr', 'lib');
  const entries = await readdir(base, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && entry.name.includes('-linux-'));
  return folders.map(({ name }) => join(base, name)).join(':');
}

async function run(command: Command, log: string): Promise<void> {
  const process = LocalProcess.start({ name: 'apt', command }, log);
  const exit = await process.exited;
  if (exit.code === 0) return;
  const end = await process.lastLines(5);
  throw new MissingBind(`${command[0]} ended with ${describeExit(exit)}:\n${end}\n`);
}
