/**
 * BIND, the DNS server by the people who wrote the book: what our own stand-in takes for right, it may not. Debian's
 * packages are unpacked into the cache, never installed, since an installed DNS server would also be started.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { cacheRoot } from '../processes/cache-root.ts';
import { findProgram } from '../processes/parent-death.ts';
import { unpacked } from './debian.ts';
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
  const packages = { names: ['bind9', 'bind9-dnsutils'], program: inPackage.dig, title: 'BIND' };
  const root = await unpacked(folder, packages, progress, env).catch((error: Error) => {
    throw new MissingBind(error.message);
  });
  const there = { named: join(root, inPackage.named), dig: join(root, inPackage.dig) };
  return { ...there, env: { ...env, LD_LIBRARY_PATH: await librariesIn(root) } };
}

/** Debian keeps libraries in a folder for the kind of computer. */
async function librariesIn(root: string): Promise<string> {
  const base = join(root, 'usr', 'lib');
  const entries = await readdir(base, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && entry.name.includes('-linux-'));
  return folders.map(({ name }) => join(base, name)).join(':');
}
