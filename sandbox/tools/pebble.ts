/** Pebble, Let's Encrypt's own small authority for tests: what our client takes for right, it may not. */
import { join } from 'node:path';

import { cacheRoot } from '../processes/cache-root.ts';
import { findProgram } from '../processes/parent-death.ts';
import { unpacked } from './debian.ts';
import type { Progress } from './progress.ts';

/** There is no Pebble, and none can be had here; the message says what to do. */
export class MissingPebble extends Error {
  override readonly name = 'MissingPebble';

  constructor(why: string) {
    super(
      `ACME is told to Pebble, which is not here: ${why}. Install Debian's package pebble, or let apt-get reach its ` +
        'repository; it is then unpacked into the cache, once.',
    );
  }
}

/**
 * @returns the program on PATH, or that of a package in the cache
 * @throws MissingPebble when there is none and none can be had
 */
export async function ensurePebble(progress: Progress, env = process.env): Promise<string> {
  const found = findProgram('pebble', env);
  if (found !== undefined) return found;
  const packages = { names: ['pebble'], program: 'usr/bin/pebble', title: 'Pebble' };
  const root = await unpacked(join(cacheRoot(env), 'pebble'), packages, progress, env).catch(
    (error: Error) => {
      throw new MissingPebble(error.message);
    },
  );
  return join(root, packages.program);
}
