import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

test('warnings of a library about a metadata server that is none are nobody’s concern', async () => {
  const server = createServer((_, response) => response.writeHead(500).end()).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const uid = '3f2a91c0-1111-4222-8333-44445555aaaa';
  const args = [main, 'cleanup', '--cluster', uid, '--project', 'my-project'];
  const { PATH } = process.env;
  const env = { PATH, HOME: '/nowhere', GCE_METADATA_HOST: host, CLOUDSDK_CONFIG: '/nowhere' };
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  execFile(process.execPath, args, { env }, (_, stdout, stderr) => resolve([stdout, stderr]));

  const [stdout, stderr] = await promise;

  server.close();
  expect(stdout).toContain('KPU601');
  expect(stderr).toBe('');
});
