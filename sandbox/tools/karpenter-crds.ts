import { copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { go, GoFailed, goOrThrow, type GoOptions } from './go.ts';
import { moduleFolder, pinnedVersion } from './sets.ts';

export const KARPENTER = 'sigs.k8s.io/karpenter';

/** The YAML files of a folder, sorted; empty when it is not there. */
export async function yamlFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith('.yaml'))
    .toSorted()
    .map((name) => join(folder, name));
}

/**
 * Copies the CRDs of the pinned Karpenter release into `target`, whole or not at all.
 *
 * Only the module's files are needed, and the go command hands a module over even when it asks for a newer Go
 * than there is: it reports that as an error beside the checksum. So the error is passed over when, and only
 * when, the checksum is the one of the committed go.sum.
 */
export async function copyKarpenterCrds(target: string, options: GoOptions): Promise<void> {
  const source = join(await moduleOf(moduleFolder('karpenter'), options), 'pkg/apis/crds');
  const files = await yamlFiles(source);
  if (files.length === 0) throw new Error(`no CRDs in ${source}`);
  const temporary = `${target}.${process.pid}.tmp`;
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { recursive: true });
  await Promise.all(files.map((file) => copyFile(file, join(temporary, fileName(file)))));
  await rm(target, { recursive: true, force: true });
  await rename(temporary, target);
}

const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

interface Download {
  Dir?: string;
  Sum?: string;
}

/** The folder of the pinned module in Go's module cache. */
export async function moduleOf(folder: string, options: GoOptions): Promise<string> {
  const version = await pinnedVersion(folder, KARPENTER);
  const args = ['mod', 'download', '-json', `${KARPENTER}@${version}`];
  const env = { ...options.env, GOTOOLCHAIN: 'local', GO111MODULE: 'on' };
  const result = await go(args, { ...options, env });
  const { Dir, Sum } = parse(result.stdout);
  if (Sum === undefined) throw new GoFailed(args, result);
  const sums = await readFile(join(folder, 'go.sum'), 'utf8');
  if (!sums.split('\n').includes(`${KARPENTER} ${version} ${Sum}`)) {
    throw new Error(
      `${KARPENTER} ${version} has the checksum ${Sum}, which is not the one in ${folder}go.sum`,
    );
  }
  const cache = await goOrThrow(['env', 'GOMODCACHE'], options);
  return Dir ?? join(cache.trim(), `${KARPENTER}@${version}`);
}

function parse(text: string): Download {
  return text.trim() === '' ? {} : (JSON.parse(text) as Download);
}
