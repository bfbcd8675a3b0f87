import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { HelmBinary, HelmFailed } from './helm.ts';

const signal = new AbortController().signal;
const rendering = {
  release: 'web-1',
  chart: '--post-renderer=evil',
  version: '0.6.0',
  namespace: 'kraftlet',
  values: { ukc: { token: 'secret' } },
};
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'helm-test-'));
  vi.stubEnv('TMPDIR', directory);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true, force: true });
});

/** A program in the place of Helm: a shell script. */
async function scripted(script: string): Promise<HelmBinary> {
  const path = join(directory, 'helm');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o700);
  return new HelmBinary(path);
}

test('Helm is given the values in a private file that is gone afterwards', async () => {
  const seen = join(directory, 'seen');
  const helm = await scripted(
    `stat -c %a "$5" > ${seen}; cat "$5" >> ${seen}; echo "kind: Secret"`,
  );

  await expect(helm.template(rendering, signal)).resolves.toBe('kind: Secret\n');

  expect(await readFile(seen, 'utf8')).toBe('600\n{"ukc":{"token":"secret"}}');
  expect((await readdir(directory)).toSorted()).toEqual(['helm', 'seen']);
});

test('no chart’s name is taken for an option', async () => {
  const helm = await scripted('echo "$@"');

  const [, operands] = (await helm.template(rendering, signal)).split(' -- ');

  expect(operands).toBe('web-1 --post-renderer=evil\n');
});

test('Helm does not see the operator’s cloud credentials', async () => {
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('HTTPS_PROXY', 'http://proxy.example.com');
  const helm = await scripted('env');

  const environment = await helm.template(rendering, signal);

  expect(environment).toContain('HTTPS_PROXY=http://proxy.example.com');
  expect(environment).not.toContain('AWS_SECRET_ACCESS_KEY');
});

test('a failure is told in Helm’s words, and leaves nothing behind', async () => {
  const helm = await scripted('echo "Error: no such chart" >&2; exit 1');

  const failure = helm.template(rendering, signal);

  await expect(failure).rejects.toThrow(HelmFailed);
  await expect(failure).rejects.toThrow(/^Error: no such chart$/);
  expect(await readdir(directory)).toEqual(['helm']);
});

test('what Helm told before it failed does not hide why', async () => {
  const helm = await scripted(
    `for i in $(seq 200); do echo "level=WARN msg=old" >&2; done; echo "Error: no such chart" >&2; exit 1`,
  );

  await expect(helm.template(rendering, signal)).rejects.toThrow(/^Error: no such chart$/);
});

test('a missing Helm is a failure like any other', async () => {
  await expect(new HelmBinary(join(directory, 'none')).template(rendering, signal)).rejects.toThrow(
    /ENOENT/,
  );
});

test('a rendering that is no longer wanted is stopped', async () => {
  const helm = await scripted('exec sleep 60');
  const stop = new AbortController();
  const rendered = helm.template(rendering, stop.signal);
  stop.abort(new Error('shutting down'));

  await expect(rendered).rejects.toThrow('shutting down');
});
