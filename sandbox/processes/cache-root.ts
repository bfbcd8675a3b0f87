import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Where everything lives that outlasts a run and is no part of the tree: built programs, and the folders of
 * running worlds. Follows the XDG base directory rules.
 */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  const base = env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache');
  return join(base, 'karpenter-provider-unikraft');
}
