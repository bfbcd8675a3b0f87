import { link, readFile, rm, writeFile } from 'node:fs/promises';

import { milliseconds, type Clock } from '#schemas/time/clock.ts';

import { identityOf, identityText, isAlive, parseIdentity } from '../processes/identity.ts';

export interface LockOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Called once when another process holds the lock. */
  readonly onWait?: (pid: number) => void;
}

/**
 * Runs `work` while no other process on this computer holds the lock file, and waits for its turn before.
 *
 * A lock whose holder died is taken over. Two that take it over in the same instant may both go on: that is
 * why what is built under the lock is renamed into place whole; the lock only saves doing the work twice.
 */
export async function withLock<T>(
  file: string,
  options: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const self = identityOf(process.pid);
  if (!self) throw new Error('cannot read the start time of this process');
  const ticket = `${file}.${identityText(self)}`;
  await writeFile(ticket, identityText(self));
  try {
    await acquire(file, ticket, options);
    try {
      return await work();
    } finally {
      await rm(file, { force: true });
    }
  } finally {
    await rm(ticket, { force: true });
  }
}

async function acquire(file: string, ticket: string, options: LockOptions): Promise<void> {
  let told = false;
  while (!(await tryLink(ticket, file))) {
    const holder = parseIdentity(await readFile(file, 'utf8').catch(() => ''));
    if (holder && !isAlive(holder)) {
      await rm(file, { force: true });
      continue;
    }
    if (holder && !told) options.onWait?.(holder.pid);
    told ||= holder !== undefined;
    await options.clock.sleep(milliseconds(500), options.signal);
  }
}

/** Makes the lock with its holder's name in it in one step, so that nobody ever reads half a lock. */
async function tryLink(ticket: string, file: string): Promise<boolean> {
  try {
    await link(ticket, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
