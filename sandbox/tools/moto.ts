/**
 * moto, an imitation of AWS by other people: what our own endpoint gets wrong, it does not get wrong in the same way.
 * Installed from PyPI at exact versions into a virtual environment in the cache.
 */
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { SystemClock } from '#schemas/time/system-clock.ts';

import { cacheRoot } from '../processes/cache-root.ts';
import { describeExit, LocalProcess } from '../processes/local-process.ts';
import { type Command, findProgram } from '../processes/parent-death.ts';
import { withLock } from './lock.ts';
import type { Progress } from './progress.ts';

/** There is no Python, or it cannot make what is needed; the message says what to do. */
export class MissingPython extends Error {
  override readonly name = 'MissingPython';

  constructor(why: string) {
    super(
      `The AWS stories are told to moto too, which needs Python: ${why}. Install Python 3.10 or newer with its venv ` +
        'module (Debian: python3-venv) and let pip reach PyPI or a mirror of it; everything else is done here, once.',
    );
  }
}

const requirements = new URL('moto/requirements.txt', import.meta.url);

/**
 * @returns the Python of an environment that has moto
 * @throws MissingPython when there is none and none can be made
 */
export async function ensureMoto(progress: Progress, env = process.env): Promise<string> {
  const hash = createHash('sha256').update(await readFile(requirements));
  const folder = join(cacheRoot(env), `moto-${hash.digest('hex').slice(0, 16)}`);
  const python = join(folder, 'bin', 'python');
  const [isThere, base] = [await exists(join(folder, 'complete')), findProgram('python3', env)];
  if (isThere) return python;
  if (base === undefined) throw new MissingPython('there is no python3 on PATH');
  await mkdir(cacheRoot(env), { recursive: true });
  await withLock(`${folder}.lock`, { clock: new SystemClock() }, async () => {
    if (await exists(join(folder, 'complete'))) return;
    await progress.step('Installing moto from PyPI (once, about a minute)', async () =>
      install(base, folder),
    );
  });
  return python;
}

/** An environment knows its own path, so it is made in its place; the mark at the end says that it is whole. */
async function install(base: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const log = join(folder, 'install.log');
  await run([base, '-m', 'venv', folder], log);
  const pip = [join(folder, 'bin', 'pip'), 'install', '--disable-pip-version-check', '--no-input'];
  await run([...pip, '--requirement', requirements.pathname] as unknown as Command, log);
  await rename(log, join(folder, 'complete'));
}

async function run(command: Command, log: string): Promise<void> {
  const process = LocalProcess.start({ name: 'python', command }, log);
  const exit = await process.exited;
  if (exit.code === 0) return;
  throw new MissingPython(
    `${command.slice(1, 4).join(' ')} ended with ${describeExit(exit)}:\n${await process.lastLines(15)}\n`,
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
