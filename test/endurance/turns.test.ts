import { monitorEventLoopDelay } from 'node:perf_hooks';

import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Context } from '#controller/context.ts';
import { Slices } from '#controller/provisioning/slices.ts';
import { World } from '#controller/provisioning/testing/world.ts';
import { SolverThread } from '#controller/provisioning/thread/solver-thread.ts';
import { silentLogger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { mix } from '#scheduling/testing/mix.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import { pods } from '#schemas/kubernetes/resource.ts';
import { minutes } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

/** Of Karpenter's own mix: spread over zones and hosts, together, apart, and plain. */
const count = 20_000;
const bar = 50;

const life = new AbortController();
const metrics = new Metrics();
let world: World;
let solver: SolverThread;

beforeAll(async () => {
  const clock = new FakeClock({ real: Date.now });
  world = new World({ clock });
  answerSlowly(world.context);
  world.seedPool('web');
  for (const pod of mix(count).pods) world.client.seed(pods, structuredClone(givenUp(pod)));
  solver = new SolverThread({ clock, log: silentLogger, metrics });
  void solver.run(life.signal);
  await pause(3000); // the thread warms up, as it does while a controller fills its caches
}, minutes(1));
afterAll(() => {
  world.end();
  life.abort(new Error('the test is over'));
});

test(
  'the loop of the controller has its turns while 20,000 Pods are planned for',
  async () => {
    const instanceTypes = mix(5).pools[0]!.instanceTypes;
    const offer = { revision: 'default-1', nodeClass: offered, instanceTypes };
    const catalog = { offer: async () => Promise.resolve(offer) };
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const began = performance.now();
    world.start({}, { catalog, metrics, slices: new Slices(), solver, batch: { idle: 0, max: 0 } });
    while (world.claims.length === 0) await pause(5); // oxlint-disable-line no-await-in-loop -- until the first is written
    delay.disable();

    const turns = {
      pods: count,
      planned: Math.round(performance.now() - began),
      solved: Math.round(
        1000 * (await secondsOf('karpenter_unikraft_solver_thread_duration_seconds')),
      ),
      longest: Math.round(delay.max / 1e6),
      p99: Math.round(delay.percentile(99) / 1e6),
    };
    console.log(JSON.stringify(turns));
    expect(await placed()).toBe(count);
    expect(turns.longest).toBeLessThanOrEqual(bar);
  },
  minutes(2),
);

/** Pods that the plan has a place for; the rest of the claims is written meanwhile. */
async function placed(): Promise<number> {
  const name = 'karpenter_pods_scheduling_decision_duration_seconds_count';
  for (let tries = 0; tries < 100; tries++) {
    const found = new RegExp(`^${name} (\\d+)$`, 'mu').exec(await metrics.text());
    if (Number(found?.[1]) === count) return count;
    await pause(100); // oxlint-disable-line no-await-in-loop -- it is told Pod by Pod
  }
  return 0;
}

async function secondsOf(metric: string): Promise<number> {
  const found = new RegExp(`^${metric}_sum (\\S+)$`, 'mu').exec(await metrics.text());
  return Number(found?.[1]);
}

const offered = { nodeClass: 'default', spec: { aws: { region: 'eu-1' } } } as never;

function givenUp(pod: Pod): Pod {
  const verdict = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' } as const;
  return { ...pod, status: { conditions: [verdict] } };
}

/** An API server is elsewhere, and a write takes it a while; in memory all of them would be one turn. */
function answerSlowly(context: Context): void {
  const { client } = context;
  const create: typeof client.create = async (...args) => {
    await pause(10);
    return client.create(...args);
  };
  Object.assign(context, {
    client: new Proxy(client, {
      get: (target, name) => (name === 'create' ? create : bound(target, name)),
    }),
  });
}

function bound(target: object, name: string | symbol): unknown {
  const member: unknown = Reflect.get(target, name);
  return typeof member === 'function' ? member.bind(target) : member;
}

async function pause(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}
