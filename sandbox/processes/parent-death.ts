import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export type Command = readonly [program: string, ...args: string[]];

/**
 * The command, wrapped so that the kernel kills it when this process dies, however it dies. Only Linux can do
 * that, through util-linux' setpriv; elsewhere the next run removes what a killed one left.
 */
export function endingWithParent(command: Command, env: NodeJS.ProcessEnv = process.env): Command {
  const setpriv = process.platform === 'linux' ? findProgram('setpriv', env) : undefined;
  return setpriv === undefined ? command : [setpriv, '--pdeathsig', 'KILL', '--', ...command];
}

/** The first executable of that name on PATH. */
export function findProgram(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
