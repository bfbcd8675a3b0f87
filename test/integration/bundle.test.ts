import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { rolldown, type OutputChunk } from 'rolldown';
import { beforeAll, expect, test } from 'vitest';

import type * as solverThread from '#controller/provisioning/thread/solver-thread.ts';
import { silentLogger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import type * as cloudFacts from '#machine/cloud/cloud-facts.ts';
import { CloudFacts } from '#machine/cloud/cloud-facts.ts';
import { pod, pool, problem } from '#scheduling/testing/build.ts';
import { cloudNames } from '#schemas/instances/cloud.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import config from '../../rolldown.config.ts';

let chunks: readonly OutputChunk[];

beforeAll(async () => {
  const { output: outputs, ...input } = config;
  const [options] = [outputs].flat();
  const bundle = await rolldown(input);
  const { output } = await bundle.generate(options);
  await bundle.close();
  chunks = output.filter((one) => one.type === 'chunk');
});

/** Node keeps the text of what it runs: in one byte for each letter, or in two for all if one needs them. */
test('no file has a letter that makes node keep two bytes for each of its letters', () => {
  const wide = chunks.flatMap(({ fileName, code }) =>
    [...code.matchAll(/[\u0100-\u{10ffff}]/gu)].map(
      ({ 0: letter, index }) => `${fileName}: ${letter} in ${code.slice(index - 20, index + 20)}`,
    ),
  );
  expect(chunks.length).toBeGreaterThan(2);
  expect(wide).toEqual([]);
});

test('the webhook loads no cloud', () => {
  const loaded = reached('webhook/main.js');
  expect([...loaded].filter((name) => /cloud|dns|checksum|clients/.test(name))).toEqual([]);
});

test('the solver finds the file of its thread, and loads no client and no cloud in it', async () => {
  const loaded = reached('controller/solver-thread.js');
  expect([...loaded].filter((name) => /cloud|dns|undici|clients|settings/.test(name))).toEqual([]);

  const source = 'controller/provisioning/thread/solver-thread.ts';
  await using bundled = await bundledWith<typeof solverThread>(source);
  const parts = { clock: new SystemClock(), log: silentLogger, metrics: new Metrics() };
  const thread = new bundled.module.SolverThread(parts);
  const life = new AbortController();
  const running = thread.run(life.signal);
  const plan = await thread.solve(problem({ pods: [pod('a')], pools: [pool('web')] }), life.signal);
  life.abort();
  await running;
  expect(plan.claims).toMatchObject([{ nodePool: 'web', pods: ['shop/a'] }]);
});

test('what clouds sell travels along, in files of its own that are read when a cloud is asked for', async () => {
  const texts = chunks.filter(({ code }) => code.includes('c7i-flex.xlarge'));
  expect(texts.map(({ fileName }) => fileName)).toEqual([]);

  await using bundled = await bundledWith<typeof cloudFacts>('machine/cloud/cloud-facts.ts');
  const [there, here] = [new bundled.module.CloudFacts(), new CloudFacts()];
  for (const cloud of cloudNames) {
    // oxlint-disable-next-line no-await-in-loop -- two
    const [got, wanted] = await Promise.all([there.prices(cloud, 'x'), here.prices(cloud, 'x')]);
    const size = { aws: 'm7i.xlarge', gcp: 'n2-standard-4' }[cloud];
    expect(got.of(size)).toMatchObject({ basis: 'scaled' });
    expect(got.of(size)).toEqual(wanted.of(size));
  }
});

/** A module as it is in the bundle, from a bundle that is written to a folder of its own. */
async function bundledWith<Module>(source: string) {
  const dir = await mkdtemp(join(tmpdir(), 'bundle-'));
  const { output: outputs, ...input } = config;
  const entries = { ...(input.input as Record<string, string>), 'controller/asked-for': source };
  await using bundle = await rolldown({ ...input, input: entries });
  await bundle.write({ ...[outputs].flat()[0], dir });
  return {
    module: (await import(join(dir, 'controller/asked-for.js'))) as Module,
    [Symbol.asyncDispose]: async () => rm(dir, { recursive: true }),
  };
}

/** A chunk and all that it imports before it runs. */
function reached(fileName: string, seen = new Set<string>()): Set<string> {
  if (seen.has(fileName)) return seen;
  seen.add(fileName);
  const chunk = chunks.find((one) => one.fileName === fileName);
  for (const name of chunk?.imports ?? []) reached(name, seen);
  return seen;
}
