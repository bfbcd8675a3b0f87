import { readFile } from 'node:fs/promises';

import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { SharedInformer } from '#kube/cache/shared-informer.ts';
import { isTrue } from '#kube/conditions.ts';
import { silentLogger } from '#kube/log.ts';
import { fault } from '#sandbox/cloud/wire/faults.ts';
import type { LocalProcess } from '#sandbox/processes/local-process.ts';
import { freePort } from '#sandbox/processes/ports.ts';
import { nodeClaims, nodePools, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { pods, type Resource } from '#schemas/kubernetes/resource.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { nodeClass, nodePool, workload } from '#test/world/objects.ts';
import { startOperatorProcess } from '#test/world/operator-process.ts';
import { TestWorld } from '#test/world/test-world.ts';

/** Machines of this story have two vCPUs for Pods: five of these each. */
const count = 1000;
const perMachine = 5;
const batchWindow = seconds(1);

let world: TestWorld;
let operator: LocalProcess;
let metricsPort: number;
const watching = new AbortController();

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'), { operator: false });
  const { faults } = world.cloud.ec2; // machines are another story
  faults.next(
    'RunInstances',
    fault({ code: 'RequestLimitExceeded', status: 503, times: Infinity }),
  );
  metricsPort = await freePort();
  operator = await startOperatorProcess(world.world, { METRICS_PORT: String(metricsPort) });
  await world.expectUsable(nodeClass());
  await world.expectApplied(workload('Deployment', 'burst', count, { cpu: '400m' }));
  const waiting = watch(pods);
  await world.eventually(
    'all Pods given up by kube-scheduler',
    async () =>
      Promise.resolve(
        waiting.list().filter(({ status }) => isUnschedulable(status)).length === count,
      ),
    minutes(3),
  );
}, minutes(5));
afterAll(async () => {
  watching.abort();
  await operator?.stop();
  await world?.stop();
}, minutes(1));

test(
  'a thousand Pods that wait have their 200 NodeClaims a second after the batch window',
  async () => {
    const { late, bare } = await burst();
    const plans = (await logLines()).filter(({ msg }) => msg === 'planned');
    const solved = plans.map(({ solvedInMs = Infinity }) => solvedInMs);
    const lag = await longestTurn();
    console.log(
      JSON.stringify({
        claims: late.length,
        p50: quantile(late, 0.5),
        p99: quantile(late, 0.99),
        most: Math.round(Math.max(...late)),
        bareP99: quantile(bare, 0.99),
        solvedInMs: solved,
        longestTurnMs: lag,
      }),
    );

    expect(plans.map(({ pods: number }) => number)).toEqual([count]);
    expect(late).toHaveLength(count / perMachine);
    // On a computer that is busy with other tests it may take as long as the same writes take by themselves, and half as long again.
    const bar = Math.max(seconds(1), 1.5 * quantile(bare, 0.99));
    expect(quantile(late, 0.99)).toBeLessThanOrEqual(bar);
    expect(solved[0]).toBeLessThanOrEqual(100);
  },
  minutes(10),
);

interface Burst {
  /** Milliseconds from the close of the batch window to each claim, as a watch saw them. */
  readonly late: readonly number[];
  /** How long the same writes take when nobody decides anything. */
  readonly bare: readonly number[];
}

async function burst(): Promise<Burst> {
  let ready = Infinity;
  const made: number[] = [];
  const round = new AbortController();
  const poolSeen = watch(nodePools, round.signal);
  const claimsSeen = watch(nodeClaims, round.signal);
  poolSeen.subscribe({
    update: ({ status }) => {
      if (isTrue(status?.conditions, 'Ready')) ready = Math.min(ready, performance.now());
    },
  });
  claimsSeen.subscribe({ add: () => made.push(performance.now()) });
  await poolSeen.whenSynced(round.signal);
  await claimsSeen.whenSynced(round.signal);

  await world.expectApplied(nodePool());
  await world.eventually('all claims', async () =>
    Promise.resolve(made.length >= count / perMachine),
  );
  await new Promise((resolve) => setTimeout(resolve, seconds(3))); // none comes after them
  round.abort();
  const late = made.map((at) => at - ready - batchWindow);
  return { late, bare: await bareWrites(await world.claims()) };
}

/** All at once, and none is kept. */
async function bareWrites(claims: readonly Live<NodeClaim>[]): Promise<number[]> {
  const began = performance.now();
  const writes = claims.map(async ({ metadata: { labels = {}, annotations = {} }, ...claim }) => {
    const metadata = { generateName: 'bare-', labels, annotations };
    await world.client.create(nodeClaims, { ...claim, metadata }, { dryRun: true });
    return performance.now() - began;
  });
  return Promise.all(writes);
}

function watch<T extends KubeObject>(
  resource: Resource<T>,
  signal: AbortSignal = watching.signal,
): SharedInformer<T> {
  const options = { clock: new SystemClock(), log: silentLogger };
  const informer = new SharedInformer<T>(world.client, resource, options);
  void informer.run(signal);
  return informer;
}

function isUnschedulable(status: { conditions?: readonly { reason?: string }[] } | undefined) {
  return status?.conditions?.some(({ reason }) => reason === 'Unschedulable') === true;
}

interface Line {
  readonly msg?: string;
  readonly pods?: number;
  readonly solvedInMs?: number;
}

async function logLines(): Promise<Line[]> {
  const text = await readFile(operator.logFile, 'utf8');
  return text
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));
}

/** Of the controller's loop, since its start, in milliseconds. */
/**
 * Half a second here, of which nothing is the plan's: by its profile it is the AWS SDK's modules, read and run when the first
 * class asks for its cloud (340 ms, more than half of it to tell which kind of module each of its files is), with Helm's
 * and the private authority's start in the same turns. The bundle, a single module, takes 150 to 230 ms for it. It comes once
 * in a process, before any machine, and leases allow fifteen seconds.
 */
async function longestTurn(): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  const [, value] = /^nodejs_eventloop_lag_max_seconds (\S+)$/mu.exec(await response.text()) ?? [];
  return Math.round(Number(value) * 1000);
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Infinity,
  );
}
