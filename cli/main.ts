#!/usr/bin/env node
/** `kpu <command>` */
import manifest from '../package.json' with { type: 'json' };
import { runCleanup } from './cleanup/command.ts';

const usage = `kpu <command>

  cleanup   list and remove what a cluster left in AWS and in Google Cloud
  version   print the version

'kpu <command> --help' tells more.
`;

const version = `kpu ${manifest.version}\n`;
const texts = new Map([
  ['help', usage],
  ['--help', usage],
  ['-h', usage],
  ['version', version],
  ['--version', version],
]);

/** What a command says goes to standard output, the exit code is 0; mistakes go to standard error, with 2. */
async function run([command = 'help', ...rest]: readonly string[]): Promise<number> {
  if (command === 'cleanup') return runCleanup(rest);
  const said = texts.get(command);
  if (said === undefined) {
    const what = command.startsWith('-') ? 'flag' : 'command';
    process.stderr.write(`error: unknown ${what} "${command}"\nSee 'kpu --help' for usage.\n`);
    return 2;
  }
  process.stdout.write(said);
  return 0;
}

quiet();
process.exitCode = await run(process.argv.slice(2));

/**
 * Google's library warns through Node.js when it looks for a metadata server where there is none. The command tells in
 * its own words that there are no credentials.
 */
function quiet(): void {
  const [tell] = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'MetadataLookupWarning') tell?.(warning);
  });
}
