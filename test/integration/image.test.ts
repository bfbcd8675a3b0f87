import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';

import { BuildContext, type Deployment } from '#scripts/image/dockerfile.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
let folder: string;
/** What the image has as its working directory. */
let app: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'image-'));
  const source = join(folder, 'source');
  app = join(folder, 'app');
  await copyContext(source);
  await symlink(join(root, 'node_modules'), join(source, 'node_modules'));
  await run(process.execPath, ['scripts/run.js', 'rolldown', '-c'], { cwd: source });
  await rename(join(source, 'dist'), app);
});
afterAll(async () => rm(folder, { recursive: true }));

/** As `COPY . .` does it. */
async function copyContext(target: string): Promise<void> {
  const context = new BuildContext(await readFile(join(root, '.dockerignore'), 'utf8'));
  const tops = new Set(context.named.map((path) => path.split('/')[0] ?? ''));
  const filter = async (path: string): Promise<boolean> => {
    const name = relative(root, path);
    return (await stat(path)).isDirectory() ? context.mayHaveIn(name) : context.has(name);
  };
  await Promise.all(
    [...tops].map(async (top) =>
      cp(join(root, top), join(target, top), { recursive: true, filter }),
    ),
  );
}

/** What a process says that is given a setting it cannot use: it has loaded all that it needs to judge it. */
async function started(command: readonly string[]): Promise<string> {
  const env = { PATH: dirname(process.execPath), METRICS_PORT: 'many' };
  const outcome = await run(process.execPath, command, { cwd: app, env }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
  );
  return outcome;
}

const deployments = globSync('kustomize/*/deployment.yaml', { cwd: root }).map(
  (path) => parse(readFileSync(join(root, path), 'utf8')) as Deployment,
);

test.for(deployments)(
  'what a build is given is enough to make what $metadata.name starts, and that runs with nothing beside it',
  async ({ spec }) => {
    const [{ command: [node, ...command] = [] } = {}] = spec.template.spec.containers;
    expect(node).toBe('node');
    const said = await started(command);
    expect(said).toContain('METRICS_PORT');
    expect(said).toContain('KPU301');
  },
);

test('all Deployments were tried', () => {
  expect(deployments).toHaveLength(2);
});
