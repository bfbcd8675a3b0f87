#!/usr/bin/env node
/** `kpu <command>` */
import { runCleanup } from './cleanup/command.ts';

const usage = `kpu <command>

  cleanup   list and remove what a cluster left in AWS and in Google Cloud

kpu <command> --help tells more.
`;

const [command, ...rest] = process.argv.slice(2);
if (command === 'cleanup') process.exitCode = await runCleanup(rest);
else {
  const isAskedFor = command === undefined || command === 'help' || command === '--help';
  process[isAskedFor ? 'stdout' : 'stderr'].write(usage);
  process.exitCode = isAskedFor ? 0 : 2;
}
