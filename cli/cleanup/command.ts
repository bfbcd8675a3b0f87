import { createInterface } from 'node:readline/promises';

import { SystemClock } from '#schemas/time/system-clock.ts';

import { type Arguments, readArguments, usage } from './arguments.ts';
import { cleanup } from './cleanup.ts';
import { placesOf } from './everywhere.ts';

/** `kpu cleanup …` @returns the exit code: 0, 1 when something failed or is left, 2 for arguments */
export async function runCleanup(argv: readonly string[]): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(usage);
    return 0;
  }
  const args = readArguments(argv);
  if (args instanceof Error) {
    process.stderr.write(`error: ${args.message}\nSee 'kpu cleanup --help' for usage.\n`);
    return 2;
  }
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const { clusterUid } = args;
  const places = await placesOf(args, new SystemClock());
  const stopping = new AbortController(); // Ctrl-C just ends it: whatever was removed, the command can be repeated
  const done = await cleanup(
    { clusterUid, places, confirm: async () => isConfirmed(args, say), say },
    stopping.signal,
  );
  return done ? 0 : 1;
}

async function isConfirmed(
  { yes, clusterUid }: Arguments,
  say: (text: string) => void,
): Promise<boolean> {
  if (yes) return true;
  if (!process.stdin.isTTY) {
    say('Nobody can type the UID here; with --yes it is removed.');
    return false;
  }
  say(
    'Machines that still serve somebody end with it. To remove all of it, type the UID of the cluster:',
  );
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await terminal.question('> ')).trim() === clusterUid;
  } finally {
    terminal.close();
  }
}
