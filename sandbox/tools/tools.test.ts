import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { FakeClock } from '#schemas/time/fake-clock.ts';

import { GoFailed } from './go.ts';
import { ScreenProgress } from './progress.ts';
import { buildFlags, moduleFolder, pinnedVersion, toolSets } from './sets.ts';
import { ensureTestPrograms, ensureTools, type ToolsOptions } from './tools.ts';

let folder: string;
let lines: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tools-'));
  lines = [];
});
afterEach(async () => rm(folder, { recursive: true }));

const binaries = toolSets.flatMap(({ programs }) => programs.map(({ binary }) => binary));

async function program(path: string, script = 'exit 0'): Promise<string> {
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

/** A folder as KUBEBUILDER_ASSETS, with all tools but those named. */
async function assetsWithout(...missing: string[]): Promise<string> {
  const assets = join(folder, 'assets');
  await mkdir(join(assets, 'karpenter-crds'), { recursive: true });
  await writeFile(join(assets, 'karpenter-crds', 'nodepools.yaml'), '{}');
  const present = binaries.filter((binary) => !missing.includes(binary));
  await Promise.all(present.map((binary) => program(join(assets, binary))));
  return assets;
}

/** A `go` that builds a file saying "built", or fails; nothing else is on PATH but what shells need. */
async function goThat(script: string): Promise<string> {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await program(join(bin, 'go'), script);
  return `${bin}:/usr/bin:/bin`;
}
const BUILDS = `while [ "$1" != -o ]; do shift; done; printf '#!/bin/sh\\n' > "$2"; chmod +x "$2"`;

const ensureBy =
  <T>(ensuring: (progress: ScreenProgress, options: ToolsOptions) => Promise<T>) =>
  (env: NodeJS.ProcessEnv): Promise<T> => {
    const clock = new FakeClock();
    const screen = { write: (text: string) => lines.push(text) };
    const cache = { XDG_CACHE_HOME: join(folder, 'cache') };
    return ensuring(new ScreenProgress(screen, clock), { clock, env: { ...cache, ...env } });
  };
const ensure = ensureBy(ensureTools);
const ensureForTests = ensureBy(ensureTestPrograms);

test('a folder that holds all is used as it is, in silence and without Go', async () => {
  const assets = await assetsWithout();

  const tools = await ensure({ KUBEBUILDER_ASSETS: assets, PATH: '' });

  expect(tools.kubeApiserver).toBe(join(assets, 'kube-apiserver'));
  expect(tools.karpenterCrds).toEqual([join(assets, 'karpenter-crds', 'nodepools.yaml')]);
  expect(lines).toEqual([]);
});

test('without Go the message names what is missing and both ways to get it', async () => {
  const assets = await assetsWithout('kubectl', 'helm');

  const outcome = ensure({ KUBEBUILDER_ASSETS: assets, PATH: '' });

  await expect(outcome).rejects.toThrow(/needs kubectl, helm, and there is no Go/);
  await expect(outcome).rejects.toThrow(/install Go 1\.26 .* KUBEBUILDER_ASSETS/);
});

test('only what is missing is built, once, and it is said before and after', async () => {
  const env = { KUBEBUILDER_ASSETS: await assetsWithout('kubectl'), PATH: await goThat(BUILDS) };

  const first = await ensure(env);
  const said = lines.splice(0);
  const second = await ensure({ ...env, PATH: '' });

  expect(said[0]).toMatch(
    /Building kubectl v1\.\d+\.\d+ with Go for a real Kubernetes control plane/,
  );
  expect(said.slice(1)).toEqual([
    'go build kubectl (usually 35 s) …\n',
    'go build kubectl (usually 35 s): 0 s\n',
  ]);
  expect(second).toEqual(first);
  expect(lines).toEqual([]);
});

test('what only tests need is asked for by tests alone, and the sandbox starts without', async () => {
  const env = { KUBEBUILDER_ASSETS: await assetsWithout(), PATH: '' };

  await expect(ensure(env)).resolves.toBeDefined();
  await expect(ensureForTests(env)).rejects.toThrow(/needs celjudge, and there is no Go/);

  const { celJudge } = await ensureForTests({ ...env, PATH: await goThat(BUILDS) });
  expect(celJudge).toMatch(/\/celjudge-[0-9a-f]{16}\/celjudge$/);
});

test('a build that fails shows what Go said and leaves nothing that looks built', async () => {
  const PATH = await goThat('echo "no space left on device" >&2; exit 1');
  const KUBEBUILDER_ASSETS = await assetsWithout('kubectl');

  const outcome = ensure({ KUBEBUILDER_ASSETS, PATH });

  await expect(outcome).rejects.toThrow(GoFailed);
  await expect(outcome).rejects.toThrow('no space left on device');
  const cache = join(folder, 'cache', 'karpenter-provider-unikraft');
  const sets = await readdir(cache);
  const files = await Promise.all(sets.map((set) => readdir(join(cache, set))));
  expect(files.flat()).toEqual([]);
});

test('CRDs are taken only with the checksum that is committed', async () => {
  const answer = JSON.stringify({ Dir: folder, Sum: 'h1:forged' });
  const PATH = await goThat(`echo '${answer}'`);
  const KUBEBUILDER_ASSETS = await assetsWithout();
  await rm(join(KUBEBUILDER_ASSETS, 'karpenter-crds'), { recursive: true });

  await expect(ensure({ KUBEBUILDER_ASSETS, PATH })).rejects.toThrow(
    /has the checksum h1:forged, which is not the one in .*go\.sum/,
  );
});

test('programs say the version that go.mod pins', async () => {
  const version = await pinnedVersion(moduleFolder('controlplane'), 'k8s.io/kubernetes');
  const [, major, minor] = /^v(\d+)\.(\d+)\.\d+$/.exec(version) ?? [];

  const flags = buildFlags(version).join(' ');

  expect(flags).toContain(`gitVersion=${version}`);
  expect(flags).toContain(`gitMajor=${major} -X k8s.io/component-base/version.gitMinor=${minor}`);
  await expect(pinnedVersion(moduleFolder('helm'), 'example.com/none')).rejects.toThrow(
    'does not require example.com/none',
  );
});
