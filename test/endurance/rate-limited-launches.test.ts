import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { isTrue } from '#kube/conditions.ts';
import { overRate } from '#sandbox/cloud/wire/faults.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import type { Manifest } from '#sandbox/manifests/render.ts';
import type { LocalProcess } from '#sandbox/processes/local-process.ts';
import { World } from '#sandbox/world/world.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { minutes, seconds, type Instant } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { classOf, type Cloud } from '#test/crash/objects.ts';
import { standaloneClaim } from '#test/world/objects.ts';
import { startOperatorProcess } from '#test/world/operator-process.ts';

/** All of an endpoint's calls together, reads and writes; what EC2 and Compute Engine have for each group of methods. */
const rate = { perSecond: 20, burst: 20 };
const count = 300;
/** To the endpoint of the machines and to that of their names, refused ones included. */
const callsPerMachine = 6;
/**
 * A launch that is refused is tried again after two seconds, one whose turn is further away than five after two more, and
 * a computer that computes other things may take as long again.
 */
const longestPause = seconds(10);

const clock = new SystemClock();
let world: World;
let controller: LocalProcess;

beforeAll(async () => {
  world = await World.start({
    tools: inject('tools'),
    processes: false,
    bundles: true,
    machineProcesses: false,
    // Kraftlets are another story: 300 of them would compute longer than all that is measured here.
    programs: { 'ghcr.io/unikraft-cloud/kraftlet': { run: ended } },
    webhookPort: () => undefined, // nobody answers, and both hooks are Ignore
  });
  controller = await startOperatorProcess(world, {}, join(world.run.dir, 'app'));
}, minutes(2));
afterAll(async () => {
  await controller?.stop();
  await world?.stop();
}, minutes(1));

test.for([
  // The second cloud comes beside the first: all machines of both are kept by one process.
  { cloud: 'aws', loadedMiB: 256, mostMiB: 450 },
  { cloud: 'gcp', loadedMiB: 450, mostMiB: 450 },
] as const)(
  '300 claims at once on $cloud, which takes 20 calls a second, all get their machine',
  { timeout: minutes(3) },
  async ({ cloud, loadedMiB, mostMiB }) => {
    await apply(classOf(cloud, { deadlines: { launch: '5m' } }));
    await until('the node class Ready', async () => {
      const { status } = await world.client.get(unikraftNodeClasses, { name: cloud });
      return isTrue(status?.conditions, 'Ready');
    });
    const { machines, names, launch, read } = endpointsOf(cloud);
    const back = limit(cloud);
    const loaded = await memoryOf(controller);
    const from = [machines.calls.length, names.calls.length];
    const began = clock.now();

    await Promise.all(claimsOf(cloud).map(async (one) => world.client.create(nodeClaims, one)));
    await until('all machines up', async () => (await upOn(cloud)).length === count);

    const took = clock.now() - began;
    back();
    const calls = machines.calls.slice(from[0]);
    const launches = calls.filter((call) => call.action === launch && call.outcome === 'ok');
    const [first = 0, last = 0] = [launches[0]?.at, launches.at(-1)?.at];
    const meanwhile = calls.filter(({ at }) => at >= first && at <= last);
    const namesCalls = names.calls.length - (from[1] ?? 0);
    const figures = {
      cloud,
      seconds: Math.round(took / 100) / 10,
      launchedInSeconds: Math.round((last - first) / 100) / 10,
      callsPerMachine: Math.round(((calls.length + namesCalls) / count) * 100) / 100,
      byAction: Object.fromEntries(
        [...Map.groupBy(calls, ({ action }) => action)].map(([action, all]) => [
          action,
          all.length,
        ]),
      ),
      names: namesCalls,
      refused: meanwhile.filter(({ outcome }) => outcome !== 'ok').length,
      readsMeanwhile: meanwhile.filter(({ action }) => action === read).length,
      longestPause: longestBetween(launches.map(({ at }) => at)),
      // before the claims came, and once their machines were up
      loaded,
      resident: await memoryOf(controller),
    };
    console.log(JSON.stringify(figures));

    expect(launches).toHaveLength(count);
    // else there was no limit, or this computer did not come to it
    const isSlow = figures.launchedInSeconds > (1.2 * count) / rate.perSecond;
    expect(figures.refused > 0 || isSlow).toBe(true);
    expect(figures.readsMeanwhile).toBeGreaterThan(0);
    expect(figures.longestPause).toBeLessThanOrEqual(longestPause);
    expect(figures.callsPerMachine).toBeLessThanOrEqual(callsPerMachine);
    expect(loaded.nowMiB).toBeLessThanOrEqual(loadedMiB);
    expect(figures.resident.mostMiB).toBeLessThanOrEqual(mostMiB);
  },
);

interface Endpoints {
  readonly machines: Recorded;
  readonly names: Recorded;
  /** The actions by which a machine is made and looked at. */
  readonly launch: string;
  readonly read: string;
}

interface Recorded {
  readonly calls: readonly {
    readonly action: string;
    readonly outcome: string;
    readonly at: Instant;
  }[];
}

function endpointsOf(cloud: Cloud): Endpoints {
  const { ec2, route53, gce, cloudDns } = world.cloud;
  return cloud === 'aws'
    ? { machines: ec2, names: route53, launch: 'RunInstances', read: 'DescribeInstances' }
    : {
        machines: gce,
        names: cloudDns,
        launch: 'instances.insert',
        read: 'instances.aggregatedList',
      };
}

/** @returns takes it back */
function limit(cloud: Cloud): () => void {
  const { ec2, gce } = world.cloud;
  return cloud === 'aws'
    ? ec2.faults.next('*', overRate(clock, rate))
    : gce.faults.next('*', overRate(clock, rate, 'gce429'));
}

function claimsOf(cloud: Cloud): NodeClaim[] {
  return Array.from({ length: count }, (_, index) =>
    standaloneClaim(`${cloud}-${index}`, undefined, cloud),
  );
}

/** Their platforms answer, by their names in DNS. */
async function upOn(cloud: Cloud): Promise<Live<NodeClaim>[]> {
  const { items } = await world.client.list(nodeClaims);
  return items.filter(
    ({ spec, status }) =>
      spec.nodeClassRef.name === cloud &&
      status?.providerID !== undefined &&
      isTrue(status.conditions, 'PlatformHealthy'),
  );
}

function longestBetween(times: readonly Instant[]): number {
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
}

/** Of physical memory, as Linux tells it: now, and the most it ever had. */
async function memoryOf({ pid }: LocalProcess): Promise<{ nowMiB: number; mostMiB: number }> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  const read = (name: string): number => {
    const [, kiB] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text) ?? [];
    return Math.round(Number(kiB) / 1024);
  };
  return { nowMiB: read('VmRSS'), mostMiB: read('VmHWM') };
}

/** A container that does nothing until it is stopped. */
async function ended(_: unknown, signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

async function apply(...objects: KubeObject[]): Promise<void> {
  await applyAll(world.client, objects as Manifest[]);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = clock.now() + minutes(2);
  while (!(await isSo())) {
    if (clock.now() > end) throw new Error(`not ${what}:\n${await controller.lastLines(20)}`);
    // oxlint-disable-next-line no-await-in-loop -- asked until it is so
    await clock.sleep(seconds(1));
  }
}
