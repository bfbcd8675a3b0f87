/** A solver that has no plan while a Pod named poison… is in the problem; all others are to get their machines. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { silentLogger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { solve } from '#scheduling/solve.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import type { Solver } from './solver.ts';
import { World } from './testing/world.ts';
import { NoSolverThread, SolverThreadDied } from './thread/errors.ts';

interface Line {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly message: string;
}

let world: World;
let warnings: Line[];
let errors: Line[];
let metrics: Metrics;
let passes: { readonly pods: string[]; readonly at: number }[];

beforeEach(() => {
  world = new World();
  warnings = [];
  errors = [];
  passes = [];
  metrics = new Metrics();
  const log = {
    ...silentLogger,
    warn: (facts: object, message: string) => void warnings.push({ facts: { ...facts }, message }),
    error: (facts: object, message: string) => void errors.push({ facts: { ...facts }, message }),
  };
  Object.assign(world.context, { log });
  world.seedPool('web');
});
afterEach(() => world.end());

type IsBad = (pods: readonly string[]) => boolean;
const withPoison: IsBad = (names) => names.some((name) => name.startsWith('poison'));

/** It falls dead where the problem is bad. */
function mortal(isBad: IsBad): Solver {
  return {
    solve: async (problem) => {
      const names = problem.pods.map(({ metadata }) => metadata?.name ?? '');
      passes.push({ pods: names, at: world.clock.now() });
      if (isBad(names)) throw new SolverThreadDied(new Error('out of memory'));
      return Promise.resolve(solve(problem));
    },
  };
}

/** Pods that each ask something else. */
function seedKinds(count: number, prefix = 'p'): void {
  for (let index = 0; index < count; index++) seedKind(`${prefix}${index}`, 100 + index);
}

const seedKind = (name: string, milliCpu: number): string =>
  world.seedPod(name, { cpu: `${milliCpu}m` });

const served = (): string[] =>
  world.claims
    .flatMap(({ metadata }) => nominations().podsOf(metadata.name))
    .map((key) => key.replace('shop/', ''))
    .toSorted();

let nominations: () => ReturnType<World['start']>['nominations'];
function run(isBad: IsBad = withPoison): ReturnType<World['start']> {
  const started = world.start({}, { solver: mortal(isBad), metrics });
  nominations = () => started.nominations;
  return started;
}

const failedPasses = (isBad: IsBad = withPoison): number =>
  passes.filter(({ pods: names }) => isBad(names)).length;

const told = (name: string): string[] =>
  world
    .notesOf('FailedScheduling')
    .filter(({ object }) => object.metadata?.name === name)
    .map(({ message }) => message);

const gauge = async (): Promise<string | undefined> =>
  /^karpenter_unikraft_quarantined_pods (\d+)/m.exec(await metrics.text())?.[1];

describe('a Pod that planning fails with', () => {
  test('among 50 kinds is found in 8 failed passes, told, and all others get their machines', async () => {
    seedKinds(25);
    seedKind('poison', 7);
    seedKinds(24, 'q');
    run();
    await world.clock.forward(seconds(40));

    expect(failedPasses()).toBeLessThanOrEqual(8);
    expect(served()).toHaveLength(49);
    expect(served()).not.toContain('poison');
    expect(told('poison')[0]).toBe(
      'planning failed or took longer than 60 s with this Pod: the solver thread ended: out of memory (KPU350); it is tried again at 2026-01-01 00:11 UTC (KPU351)',
    );
    expect(warnings).toMatchObject([
      { facts: { pod: 'shop/poison', code: 'KPU351', retryAt: '2026-01-01 00:11 UTC' } },
    ]);
    expect(await gauge()).toBe('1');
    expect(await metrics.text()).toContain(
      `karpenter_unikraft_passes_failed_total ${failedPasses()}\n`,
    );
  });

  test('keeps those like it out, which are told too, and no Pod that asks something else', async () => {
    seedKind('poison', 7);
    seedKind('alike', 7);
    seedKind('other', 8);
    run();
    await world.clock.forward(seconds(20));
    expect(served()).toEqual(['other']);
    expect(told('alike')[0]).toContain('(KPU351)');
    expect(told('other')).toEqual([]);
    expect(await gauge()).toBe('2');
  });

  test('may be two', async () => {
    seedKinds(10);
    seedKind('poison-a', 7);
    seedKinds(10, 'q');
    seedKind('poison-b', 8);
    run();
    await world.clock.forward(minutes(1));
    expect(served()).toHaveLength(20);
    expect(
      warnings.map(({ facts }) => String(facts['pod'])).toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(['shop/poison-a', 'shop/poison-b']);
    expect(failedPasses()).toBeLessThanOrEqual(14);
  });

  test('may come later, and Pods that come during the search are served after it', async () => {
    seedKinds(5);
    run();
    await world.clock.forward(seconds(5));
    expect(served()).toHaveLength(5);
    seedKind('poison', 7);
    await world.clock.forward(seconds(2));
    seedKind('late', 8);
    await world.clock.forward(seconds(15));
    expect(served()).toHaveLength(6);
    expect(told('poison')[0]).toContain('KPU351');
  });

  test('may go away, during the search or after it', async () => {
    seedKinds(8);
    seedKind('poison', 7);
    run();
    await world.clock.forward(seconds(2));
    world.client.remove(pods, { namespace: 'shop', name: 'poison' });
    await world.clock.forward(seconds(15));
    expect(served()).toHaveLength(8);
    expect(warnings).toEqual([]);

    seedKind('poison', 7);
    await world.clock.forward(seconds(20));
    expect(await gauge()).toBe('1');
    world.client.remove(pods, { namespace: 'shop', name: 'poison' });
    seedKind('last', 9);
    await world.clock.forward(seconds(20));
    expect(await gauge()).toBe('0');
    expect(served()).toHaveLength(9);
  });

  test('may be alone: two passes fail, the next is in 10 minutes, then in 20', async () => {
    seedKind('poison', 7);
    run();
    await world.clock.forward(minutes(9));
    expect(failedPasses()).toBe(2);
    await world.clock.forward(minutes(20));
    expect(failedPasses()).toBe(3);
    await world.clock.forward(minutes(10));
    expect(failedPasses()).toBe(4);
    expect(warnings).toHaveLength(3);
  });

  test('that fails no more is served when it is tried again', async () => {
    let isCured = false;
    seedKind('poison', 7);
    run((names) => !isCured && withPoison(names));
    await world.clock.forward(seconds(20));
    isCured = true;
    await world.clock.forward(minutes(11));
    expect(served()).toEqual(['poison']);
    expect(await gauge()).toBe('0');
  });

  test('with another spec is tried at once', async () => {
    seedKind('poison', 7);
    run(
      (names) =>
        withPoison(names) &&
        world.caches.pods.get('shop/poison')?.metadata.labels?.['cured'] === undefined,
    );
    await world.clock.forward(seconds(20));
    world.seedPod('poison', { cpu: '8m' }, { labels: { cured: 'yes' } });
    await world.clock.forward(seconds(20));
    expect(served()).toEqual(['poison']);
  });

  test('is found again after a restart, and the others are served', async () => {
    seedKinds(5);
    seedKind('poison', 7);
    const first = run();
    await world.clock.forward(seconds(20));
    first.kill();
    passes = [];
    seedKinds(5, 'q');
    run();
    await world.clock.forward(seconds(30));
    expect(served()).toHaveLength(10);
    expect(failedPasses()).toBeLessThanOrEqual(5);
    expect(warnings).toHaveLength(2);
  });
});

describe('a solver that always fails', () => {
  const always: IsBad = () => true;

  test('is told as such, sets nobody aside for long, and is asked ever more seldom', async () => {
    seedKinds(20);
    run(always);
    await world.clock.forward(minutes(2));
    const isOfIt = ({ facts }: Line): boolean => facts['code'] === 'KPU352';
    expect(errors.find(isOfIt)).toMatchObject({
      message: 'planning fails whichever Pods take part: it is not the Pods',
      facts: { pods: [expect.any(String), expect.any(String), expect.any(String)] },
    });
    expect(await gauge()).toBe('0');
    await world.clock.forward(minutes(20));
    const before = passes.length;
    await world.clock.forward(minutes(10));
    expect(passes.length - before).toBeLessThanOrEqual(20);
    expect(passes.length - before).toBeGreaterThanOrEqual(10);
    expect(await gauge()).toBe('0');
    expect(warnings).toHaveLength(2);
  });

  test('and works again later serves all', async () => {
    let isBroken = true;
    seedKinds(20);
    run(() => isBroken);
    await world.clock.forward(minutes(10));
    isBroken = false;
    await world.clock.forward(minutes(3));
    expect(served()).toHaveLength(20);
    expect(await gauge()).toBe('0');
  });

  test('is never asked more often than once in half a second', async () => {
    seedKinds(20);
    run(always);
    await world.clock.forward(minutes(10));
    const gaps = passes.slice(1).map(({ at }, index) => at - (passes[index]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500);
  });
});

test('a pass without a thread to ask blames nobody', async () => {
  seedKinds(3);
  const solver: Solver = { solve: async () => Promise.reject(new NoSolverThread()) };
  world.start({}, { solver, metrics });
  await world.clock.forward(minutes(5));
  expect(warnings).toEqual([]);
  expect(errors.filter(({ facts }) => facts['code'] !== undefined)).toEqual([]);
  expect(await metrics.text()).toMatch(/karpenter_unikraft_passes_failed_total \d+/);
});
