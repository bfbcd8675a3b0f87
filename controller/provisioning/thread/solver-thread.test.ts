import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { silentLogger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { solve } from '#scheduling/solve.ts';
import type { Problem } from '#scheduling/solver.ts';
import { node, pod, pods, pool, problem } from '#scheduling/testing/build.ts';
import { mix } from '#scheduling/testing/mix.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { NoSolverThread, SolveFailed, SolverThreadDied } from './errors.ts';
import { SolverThread, type SolverThreadParts } from './solver-thread.ts';
import { sortedPlan } from './testing/sorted-plan.ts';

const never = new AbortController().signal;
let clock: FakeClock;
let life: AbortController;
let running: Promise<void>;
let metrics: Metrics;

beforeEach(() => {
  clock = new FakeClock();
  life = new AbortController();
  metrics = new Metrics();
});
afterEach(async () => {
  life.abort(new Error('the test is over'));
  await running;
});

function start(parts: Partial<SolverThreadParts> = {}): SolverThread {
  const thread = new SolverThread({ clock, log: silentLogger, metrics, random: () => 0, ...parts });
  running = thread.run(life.signal);
  return thread;
}

/** A thread that does what the text says. */
function program(text: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}

/** The solver, which falls dead where preferences are ignored. */
const mortal = program(`
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', ({ settings }) => {
    if (settings?.preferencePolicy === 'Ignore') process.exit(3);
  });
  await import('${new URL('worker.ts', import.meta.url).href}');
`);

const one = problem({ pods: [pod('a')], pools: [pool('web')] });

describe('a solver in a thread', () => {
  test('plans as one in the process does, pass after pass, and gives the very sizes it was given', async () => {
    const thread = start();
    const first = mix(500);
    expect(sortedPlan(await thread.solve(first, never))).toEqual(sortedPlan(solve(first)));

    const later: Problem = {
      ...first,
      pods: first.pods.slice(100),
      nodes: [node('n', { cpu: '9' })],
    };
    const plan = await thread.solve(later, never);
    expect(sortedPlan(plan)).toEqual(sortedPlan(solve(later)));
    expect(first.pools[0]?.instanceTypes).toContain(plan.claims[0]?.instanceTypes[0]);
  });

  test('tells why nothing was found, Pod by Pod', async () => {
    const large = problem({ pods: pods(3, { cpu: '99' }), pools: [pool('web')] });
    const plan = await start().solve(large, never);
    expect(plan).toEqual(solve(large));
    expect(plan.unschedulable.size).toBe(3);
  });

  test('fails for a problem that cannot be solved, and solves the next one', async () => {
    const thread = start();
    const bad = problem({
      pods: [pod('a')],
      nodes: [node('n', { cpu: 'many' })],
      pools: [pool('web')],
    });
    await expect(thread.solve(bad, never)).rejects.toThrow(SolveFailed);
    await expect(thread.solve(bad, never)).rejects.toThrow(/many/);
    expect((await thread.solve(one, never)).claims).toHaveLength(1);
  });

  test('breaks off when nobody waits any more, and the next problem begins from there', async () => {
    const thread = start();
    const stop = new AbortController();
    const asked = thread.solve(mix(1000), stop.signal);
    stop.abort(new Error('nobody waits'));
    await expect(asked).rejects.toThrow('nobody waits');
    expect(sortedPlan(await thread.solve(one, never))).toEqual(sortedPlan(solve(one)));
  });

  test('ends with the controller, amid a problem if it must', async () => {
    const thread = start();
    const asked = thread.solve(mix(1000), never);
    life.abort(new Error('the test stops'));
    await expect(asked).rejects.toThrow(/the controller stops/);
    await running;
    await expect(thread.solve(one, never)).rejects.toThrow(SolverThreadDied);
  });
});

describe('a thread that dies', () => {
  test('fails the pass with a code, is replaced after a while, and the next is told everything', async () => {
    const thread = start({ program: mortal });
    await thread.solve(mix(50), never);
    const asked = thread.solve({ ...one, preferencePolicy: 'Ignore' }, never);
    await expect(asked).rejects.toMatchObject({ name: 'SolverThreadDied', code: 'KPU350' });
    await expect(thread.solve(one, never)).rejects.toThrow(NoSolverThread);

    await clock.forward(seconds(1));
    const again = mix(50);
    expect(sortedPlan(await thread.solve(again, never))).toEqual(sortedPlan(solve(again)));
    expect(await metrics.text()).toContain('karpenter_unikraft_solver_thread_deaths_total 1');
  });

  test('is started again later and later', async () => {
    const thread = start({ program: program('throw new Error("no such luck")') });
    for (const wait of [1, 2, 4, 8]) {
      // oxlint-disable-next-line no-await-in-loop -- one death after the other
      await expect.poll(() => clock.waiting).toBe(1);
      // oxlint-disable-next-line no-await-in-loop
      await clock.forward(seconds(wait) - 1);
      expect(clock.waiting).toBe(1);
      // oxlint-disable-next-line no-await-in-loop
      await clock.forward(1);
    }
    await expect(thread.solve(one, never)).rejects.toThrow(SolverThreadDied);
  });

  test('may also be one that finds no end: it is given a minute', async () => {
    const thread = start({
      program: program('import { parentPort } from "node:worker_threads"; parentPort.ref();'),
    });
    const asked = thread.solve(one, never).catch((error: unknown) => error);
    await clock.forward(minutes(1));
    expect(await asked).toMatchObject({ message: expect.stringContaining('no plan after 60 s') });
  });
});
