import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

function kpu(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test.for([[], ['help'], ['--help'], ['-h']])('kpu %j says what there is', (args) => {
  expect(kpu(...args)).toEqual({
    status: 0,
    stdout: expect.stringContaining('  cleanup ') as string,
    stderr: '',
  });
});

test.for([['version'], ['--version']])('kpu %j is the version of the package', (args) => {
  expect(kpu(...args)).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^kpu \d+\.\d+\.\d+\n$/) as string,
    stderr: '',
  });
});

test.for<[string[], string]>([
  [['clean'], 'error: unknown command "clean"\nSee \'kpu --help\' for usage.\n'],
  [['--verbose'], 'error: unknown flag "--verbose"\nSee \'kpu --help\' for usage.\n'],
  [['toString'], 'error: unknown command "toString"\nSee \'kpu --help\' for usage.\n'],
  [['cleanup'], "error: --cluster is missing\nSee 'kpu cleanup --help' for usage.\n"],
])('kpu %j is told in two lines', ([args, stderr]) => {
  expect(kpu(...args)).toEqual({ status: 2, stdout: '', stderr });
});
