/**
 * Karpenter's own benchmark as a program, with our file in it that prices what it finds. Go compiles no file into a
 * package of the module cache, so it is built from a copy; what it depends on is pinned by Karpenter's own go.sum, and
 * that by the checksum in `sandbox/karpenter/go.sum`.
 */
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { cacheRoot } from '#sandbox/processes/cache-root.ts';
import { findProgram, isExecutable } from '#sandbox/processes/parent-death.ts';
import { goOrThrow } from '#sandbox/tools/go.ts';
import { moduleOf } from '#sandbox/tools/karpenter-crds.ts';
import { withLock } from '#sandbox/tools/lock.ts';
import { MissingTools } from '#sandbox/tools/missing.ts';
import type { Progress } from '#sandbox/tools/progress.ts';
import { moduleFolder } from '#sandbox/tools/sets.ts';
import type { Clock } from '#schemas/time/clock.ts';

const name = 'karpenter-benchmark';
const ours = fileURLToPath(new URL('karpenter/priced_test.go', import.meta.url));
const package_ = 'pkg/controllers/provisioning/scheduling';
/** Karpenter v1.15.0 asks for 1.26.9 or newer; the go command fetches it as a module. */
export const toolchain = 'go1.26.10';
/** Upstream's own way to build it; `vet` finds fault with upstream's tests. */
const flags = ['-c', '-vet=off', '-tags=test_performance', '-trimpath', '-buildvcs=false'];

/**
 * The program's path: from KUBEBUILDER_ASSETS, from the cache, or built.
 *
 * @throws MissingTools when it has to be built and there is no Go
 * @throws GoFailed when the build fails
 */
export async function ensureProgram(
  progress: Progress,
  clock: Clock,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const asset = env['KUBEBUILDER_ASSETS'] && join(env['KUBEBUILDER_ASSETS'], name);
  if (asset && isExecutable(asset)) return asset;
  const folder = join(cacheRoot(env), `${name}-${await fingerprint()}`);
  const program = join(folder, name);
  if (isExecutable(program)) return program;
  if (!findProgram('go', env)) throw new MissingTools([name]);
  await mkdir(folder, { recursive: true });
  const onWait = (pid: number): void =>
    progress.say(`Process ${pid} is building the same program; waiting for it.`);
  await withLock(join(folder, 'lock'), { clock, onWait }, async () => {
    if (!isExecutable(program)) await build(program, progress, env);
  });
  return program;
}

/** Of all that the program is made from. */
async function fingerprint(): Promise<string> {
  const pinned = ['go.mod', 'go.sum'].map((file) => join(moduleFolder('karpenter'), file));
  const contents = await Promise.all([ours, ...pinned].map(async (file) => readFile(file)));
  const hash = createHash('sha256');
  for (const content of contents) hash.update(content);
  hash.update(JSON.stringify([toolchain, flags, process.platform, process.arch]));
  return hash.digest('hex').slice(0, 16);
}

async function build(program: string, progress: Progress, env: NodeJS.ProcessEnv): Promise<void> {
  const copy = `${program}.${process.pid}.source`;
  const temporary = `${program}.${process.pid}.tmp`;
  const what = `go test -c of Karpenter's benchmark (usually 4 min with nothing cached)`;
  await progress.step(what, async (note) => {
    try {
      const source = await moduleOf(moduleFolder('karpenter'), {
        cwd: dirname(program),
        env,
        onLine: note,
      });
      await copyModule(source, copy);
      await copyFile(ours, join(copy, package_, 'kpu_priced_test.go'));
      await goOrThrow(['test', ...flags, '-mod=readonly', '-o', temporary, `./${package_}`], {
        cwd: copy,
        env: { ...env, GOTOOLCHAIN: toolchain },
        onLine: note,
      });
      await rename(temporary, program);
    } finally {
      await Promise.all(
        [copy, temporary].map(async (path) => rm(path, { recursive: true, force: true })),
      );
    }
  });
}

/** File by file, since folders of the module cache cannot be written to, nor their copies. */
async function copyModule(from: string, to: string): Promise<void> {
  const packages = await readdir(join(from, 'pkg'), { recursive: true, withFileTypes: true });
  const files = packages
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(from.length + 1));
  for (const file of ['go.mod', 'go.sum', ...files]) {
    const target = join(to, file);
    await mkdir(dirname(target), { recursive: true }); // oxlint-disable-line no-await-in-loop -- few at a time
    await copyFile(join(from, file), target); // oxlint-disable-line no-await-in-loop
  }
}
