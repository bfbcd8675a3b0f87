/**
 * The programs the sandbox runs beside the project's own, all pinned by go.mod files in the tree: the control
 * plane, kubectl, Helm, and the CRDs of Karpenter.
 *
 * Each is taken from KUBEBUILDER_ASSETS when that folder holds it, else from the cache, else built with Go.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { Clock } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { cacheRoot } from '../processes/cache-root.ts';
import { findProgram, isExecutable } from '../processes/parent-death.ts';
import { goOrThrow } from './go.ts';
import { copyKarpenterCrds, KARPENTER, yamlFiles } from './karpenter-crds.ts';
import { withLock } from './lock.ts';
import { MissingTools } from './missing.ts';
import { elapsed, type Progress } from './progress.ts';
import {
  buildFlags,
  moduleFolder,
  pinnedVersion,
  testSets,
  toolSets,
  type Program,
  type ProgramKey,
  type TestProgramKey,
  type ToolSet,
} from './sets.ts';

/** Absolute paths. */
export type Tools = Readonly<Record<ProgramKey, string>> & {
  /** YAML files, one CRD each. */
  readonly karpenterCrds: readonly string[];
};

export interface ToolsOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** Where a program or folder of CRDs is, or would be after building it. */
interface Place<T> {
  readonly item: T;
  readonly path: string;
  readonly present: boolean;
}

/**
 * Finds all tools and builds what is missing, one after the other, since two Go builds of this size at once need
 * more memory than a laptop has free.
 *
 * @throws MissingTools when something is missing and there is no Go, naming both ways out
 * @throws GoFailed when a build fails
 */
export async function ensureTools(progress: Progress, options: ToolsOptions = {}): Promise<Tools> {
  const workshop = workshopOf(progress, options);
  const programs = await placesOfAll(toolSets, workshop);
  const crds = await placeOfCrds(workshop.env);
  refuseWithoutGo([...programs, crds], workshop);
  await buildMissing(toolSets, programs, workshop);
  if (!crds.present) await fetchCrds(crds.path, workshop);
  return {
    ...(byKey(programs) as Record<ProgramKey, string>),
    karpenterCrds: await yamlFiles(crds.path),
  };
}

/** What only tests need, found or built in the same way. */
export async function ensureTestPrograms(
  progress: Progress,
  options: ToolsOptions = {},
): Promise<Readonly<Record<TestProgramKey, string>>> {
  const workshop = workshopOf(progress, options);
  const programs = await placesOfAll(testSets, workshop);
  refuseWithoutGo(programs, workshop);
  await buildMissing(testSets, programs, workshop);
  return byKey(programs) as Record<TestProgramKey, string>;
}

function workshopOf(progress: Progress, options: ToolsOptions): Workshop {
  const { env = process.env, clock = new SystemClock(), signal } = options;
  return { progress, env, clock, ...(signal ? { signal } : {}) };
}

function byKey(programs: readonly Place<OfSet>[]): Record<string, string> {
  return Object.fromEntries(programs.map(({ item, path }) => [item.program.key, path] as const));
}

function refuseWithoutGo(places: readonly Place<unknown>[], { env }: Workshop): void {
  const missing = places.filter(({ present }) => !present);
  if (missing.length > 0 && !findProgram('go', env)) {
    throw new MissingTools(missing.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)));
  }
}

async function buildMissing(
  sets: readonly ToolSet[],
  programs: readonly Place<OfSet>[],
  workshop: Workshop,
): Promise<void> {
  for (const set of sets) {
    const wanted = programs.filter((place) => place.item.set === set && !place.present);
    // oxlint-disable-next-line no-await-in-loop -- one build at a time, see above
    if (wanted.length > 0) await buildSet(set, wanted, workshop);
  }
}

interface Workshop {
  readonly progress: Progress;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

type OfSet = { readonly set: ToolSet; readonly program: Program };

async function placesOfAll(sets: readonly ToolSet[], { env }: Workshop): Promise<Place<OfSet>[]> {
  return (await Promise.all(sets.map((set) => placesOf(set, env)))).flat();
}

async function placesOf(set: ToolSet, env: NodeJS.ProcessEnv): Promise<Place<OfSet>[]> {
  const folder = moduleFolder(set.name);
  const flags = buildFlags(await pinnedVersion(folder, set.versionOf));
  const cache = await cacheFolder(set, flags, env);
  return set.programs.map((program) => {
    const asset = env['KUBEBUILDER_ASSETS'] && join(env['KUBEBUILDER_ASSETS'], program.binary);
    const path = asset && isExecutable(asset) ? asset : join(cache, program.binary);
    return { item: { set, program }, path, present: isExecutable(path) };
  });
}

/** One folder for what one go.mod, go.sum, set of flags and processor make, so that a change never meets old files. */
async function cacheFolder(
  { name, sources = [] }: Pick<ToolSet, 'sources'> & { readonly name: string },
  flags: string[],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const folder = moduleFolder(name);
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', ...sources]) {
    // oxlint-disable-next-line no-await-in-loop -- the order is part of the hash
    hash.update(await readFile(join(folder, file)));
  }
  hash.update(JSON.stringify([flags, process.platform, env['GOARCH'] ?? process.arch]));
  return join(cacheRoot(env), `${name}-${hash.digest('hex').slice(0, 16)}`);
}

async function placeOfCrds(env: NodeJS.ProcessEnv): Promise<Place<undefined>> {
  const asset = env['KUBEBUILDER_ASSETS'] && join(env['KUBEBUILDER_ASSETS'], 'karpenter-crds');
  if (asset && (await yamlFiles(asset)).length > 0) {
    return { item: undefined, path: asset, present: true };
  }
  const path = join(await cacheFolder({ name: 'karpenter' }, [], env), 'karpenter-crds');
  return { item: undefined, path, present: (await yamlFiles(path)).length > 0 };
}

async function buildSet(set: ToolSet, wanted: Place<OfSet>[], workshop: Workshop): Promise<void> {
  const folder = moduleFolder(set.name);
  const version = await pinnedVersion(folder, set.versionOf);
  const total = wanted.reduce((sum, { item }) => sum + item.program.usual, 0);
  await locked(wanted[0]?.path ?? '', workshop, async () => {
    workshop.progress.say(
      `Building ${wanted.map(({ item }) => item.program.binary).join(', ')} ${version} with Go for ` +
        `${set.why}. This is done once and takes about ${elapsed(total)} on 2 cores with nothing cached; ` +
        `the results stay in ${cacheRoot(workshop.env)}.`,
    );
    for (const { item, path } of wanted) {
      // oxlint-disable-next-line no-await-in-loop -- one build at a time
      if (!isExecutable(path)) await buildProgram(item.program, path, version, folder, workshop);
    }
  });
}

/** Builds beside the place and renames, so that a program in the cache is always a whole one. */
async function buildProgram(
  program: Program,
  path: string,
  version: string,
  folder: string,
  { progress, env, signal }: Workshop,
): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  const what = `go build ${program.binary} (usually ${elapsed(program.usual)})`;
  await progress.step(what, async (note) => {
    const args = ['build', ...buildFlags(version), '-o', temporary, program.package];
    try {
      await goOrThrow(args, { cwd: folder, env, onLine: note, ...(signal ? { signal } : {}) });
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
  });
}

async function fetchCrds(path: string, workshop: Workshop): Promise<void> {
  const { env, signal } = workshop;
  const options = { cwd: moduleFolder('karpenter'), env, ...(signal ? { signal } : {}) };
  await locked(path, workshop, async () => {
    if ((await yamlFiles(path)).length > 0) return;
    const version = await pinnedVersion(moduleFolder('karpenter'), KARPENTER);
    await workshop.progress.step(`Fetching the CRDs of Karpenter ${version}`, (note) =>
      copyKarpenterCrds(path, { ...options, cwd: join(path, '..'), onLine: note }),
    );
  });
}

async function locked(path: string, workshop: Workshop, work: () => Promise<void>): Promise<void> {
  const folder = join(path, '..');
  await mkdir(folder, { recursive: true });
  const onWait = (pid: number): void =>
    workshop.progress.say(`Process ${pid} is building the same programs; waiting for it.`);
  await withLock(join(folder, 'lock'), { ...workshop, onWait }, work);
}
