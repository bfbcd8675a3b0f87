import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { isAlive, parseIdentity, type Identity } from './identity.ts';

/**
 * Ends the processes and removes the folders of runs whose owner is gone. A folder's name ends with its owner's
 * identity; the files in its `processes/` are named by the identities of what it started. Folders without an
 * owner in their name, such as logs that were kept by renaming, are left alone.
 *
 * @returns the folders that were removed
 */
export async function removeLeftovers(root: string): Promise<string[]> {
  const abandoned = (await readdir(root))
    .filter((name) => isAbandoned(parseIdentity(name)))
    .map((name) => join(root, name));
  await Promise.all(abandoned.map(removeRun));
  return abandoned;
}

function isAbandoned(owner: Identity | undefined): boolean {
  return owner !== undefined && !isAlive(owner);
}

async function removeRun(folder: string): Promise<void> {
  const names = await readdir(join(folder, 'processes')).catch(() => []);
  for (const identity of names.map(parseIdentity)) if (identity) killGroup(identity);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

function killGroup(leader: Identity): void {
  if (!isAlive(leader)) return;
  try {
    process.kill(-leader.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
