import { beforeAll, expect, test } from 'vitest';

import { ScreenProgress } from '#sandbox/tools/progress.ts';
import { ensureTestPrograms } from '#sandbox/tools/tools.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { onObject } from '#schemas/rules/expression.ts';
import { container, pod, pool, requirement } from '#schemas/rules/samples.ts';
import { rules } from '#schemas/rules/table.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { judged } from './cel-judge.ts';

/** The API server gives up on an expression that costs too much, and a policy that gives up refuses what is fine. */

let celJudge: string;

beforeAll(async () => {
  const progress = new ScreenProgress(process.stderr, new SystemClock());
  ({ celJudge } = await ensureTestPrograms(progress));
}, 600_000);

function names(count: number, prefix = 'x'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

function mapOf(keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, 'x']));
}

test.each<[string, KubeObject]>([
  [
    'a pool with all requirements and labels that fit, each on a key of its own',
    pool(
      names(100, 'key').map((key) => requirement(key, 'In', ...names(50))),
      mapOf(names(90, 'label')),
    ),
  ],
  [
    'a pool with as many on one key, that meet in their last value',
    pool(names(100).map((name) => requirement('key', 'In', ...names(49, name), 'last'))),
  ],
  [
    'a pool that is compared, at its most',
    pool(names(40).map((name) => requirement('key', 'In', ...names(49, name), 'last'))),
  ],
  [
    'a pool that lists every type there is',
    pool([
      requirement('key', 'In', ...names(600)),
      requirement('key', 'NotIn', ...names(600, 'y')),
    ]),
  ],
  [
    'a Pod of many containers, variables, mounts and annotations',
    pod(
      {
        volumes: names(200).map((name) => ({ name, emptyDir: {} })),
        containers: names(50).map((name) =>
          container({
            name,
            env: names(100).map((variable) => ({ name: variable, value: 'x' })),
            volumeMounts: names(50).map((volume) => ({ name: volume, mountPath: `/${volume}` })),
          }),
        ),
      },
      { annotations: mapOf(names(500, 'example.com/')) },
    ),
  ],
])('no rule costs too much for %s', async (_, object) => {
  const questions = rules
    .filter(
      ({ target, operations }) => target.kind === object.kind && operations.includes('CREATE'),
    )
    .map((rule) => ({ expression: onObject(rule), bindings: { object }, about: rule.name }));
  const answers = await judged(celJudge, questions);
  const given = answers.map(({ error }, index) => error && `${questions[index]?.about}: ${error}`);
  expect(given.filter((text) => text !== undefined)).toEqual([]);
});
