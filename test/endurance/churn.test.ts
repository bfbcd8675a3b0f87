import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect, test } from 'vitest';

import { leftoverCollection } from '#controller/leftovers/wiring.ts';
import { Reservations } from '#controller/reservations/reservations.ts';
import { claimControllers } from '#controller/testing/claim-controllers.ts';
import { ClaimWorld, noLeaks } from '#controller/testing/claim-world.ts';
import { nodeClaim } from '#controller/testing/objects.ts';
import { isTrue } from '#kube/conditions.ts';
import { Metrics } from '#kube/metrics.ts';
import type { CloudProvider } from '#machine/cloud/provider.ts';
import { Shared } from '#machine/cloud/shared.ts';
import type { Instance } from '#machine/machine.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { nodes, statefulSets } from '#schemas/kubernetes/resource.ts';
import { hours, minutes, seconds } from '#schemas/time/clock.ts';

const machines = 500;
/** As many end in each hour, and as many come: over the day 480 end, nearly all that there were at first. */
const churn = 20;
/** Hours. */
const day = 24;

/** How a machine may end. Somebody who takes the finalizer off leaves all of it to be found. */
const ends = ['deleted', 'killed', 'stopped', 'torn off', 'disk kept'] as const;

test(
  'over a day of 500 machines, of which 20 end in each hour and as many come, nothing leaks and nothing grows',
  async () => {
    const life = await Day.begin();
    const hourly = [];
    for (let hour = 0; hour < day; hour++) {
      // oxlint-disable-next-line no-await-in-loop -- a day
      hourly.push(await life.hour());
    }
    const [early, late] = [hourly.slice(3, 8), hourly.slice(-5)].map(meanOf);
    console.log(JSON.stringify({ made: life.made, early, late, ...life.took }));
    expect(late!.calls / early!.calls).toBeLessThanOrEqual(1.05);
    expect(late!.cloudCalls / early!.cloudCalls).toBeLessThanOrEqual(1.05);
    expect(late!.heap - early!.heap).toBeLessThanOrEqual(early!.heap * 0.05);

    await life.end();
    expect(life.leaks()).toEqual({ ...noLeaks, parts: 0 });
  },
  minutes(5),
);

interface Tally {
  /** To the API server, but for watches. */
  readonly calls: number;
  readonly cloudCalls: number;
  /** MiB after a collection. */
  readonly heap: number;
}

class Day {
  readonly #world: ClaimWorld;
  readonly #life = new AbortController();
  readonly #began = performance.now();
  readonly #computed = process.cpuUsage();
  #running!: Promise<unknown>;
  #cloudCalls = 0;
  made = 0;

  private constructor(world: ClaimWorld) {
    this.#world = world;
  }

  /** All machines are there, with the controllers that keep them. */
  static async begin(): Promise<Day> {
    const day = new Day(await ClaimWorld.make());
    day.#start();
    day.#come(machines);
    await day.#settle();
    return day;
  }

  /** In seconds, by the clock on the wall and of the processor. */
  get took() {
    const { user, system } = process.cpuUsage(this.#computed);
    return {
      seconds: Math.round((performance.now() - this.#began) / 1000),
      computed: Math.round((user + system) / 1e6),
    };
  }

  async hour(): Promise<Tally> {
    const { clock } = this.#world;
    const until = clock.now() + hours(1);
    this.#goAndCome();
    await this.#settle();
    while (clock.now() < until) {
      // oxlint-disable-next-line no-await-in-loop -- time passes
      await this.#pass(minutes(5));
    }
    return this.#tally();
  }

  /** Of the last hour; it is forgotten by that, as it is by nobody else than this test. */
  #tally(): Tally {
    const { client, notes, cloud, clock } = this.#world;
    const calls = client.calls.filter(({ verb }) => verb !== 'watch').length;
    const cloudCalls = this.#cloudCalls;
    client.calls.length = 0;
    notes.length = 0;
    this.#cloudCalls = 0;
    const forgotten = clock.now() - hours(1);
    const kept = cloud.made.filter(({ endedAt = Infinity }) => endedAt > forgotten);
    cloud.made.splice(0, cloud.made.length, ...kept);
    cloud.launches.length = 0;
    return { calls, cloudCalls, heap: heapNow() };
  }

  async end(): Promise<void> {
    const { client } = this.#world;
    for (const { metadata } of client.all(nodeClaims)) {
      // oxlint-disable-next-line no-await-in-loop -- in memory
      await client.delete(nodeClaims, metadata);
    }
    for (let round = 0; round < 12; round++) {
      // oxlint-disable-next-line no-await-in-loop -- time passes
      await this.#pass(minutes(5));
    }
    this.#life.abort(new Error('the day is over'));
    await this.#running;
  }

  leaks() {
    const { cloud } = this.#world;
    return { ...this.#world.leaks(), parts: cloud.parts.all.length };
  }

  #start(): void {
    const { context, dns } = this.#world;
    const counted = this.#counted(this.#world.cloud);
    const shared = new Shared<readonly Instance[]>(context.clock, seconds(2)); // as clouds' adapters do
    const snapshot: CloudProvider['snapshot'] = async (nodeClass, uid, signal) =>
      shared.get(uid, async () => counted.snapshot(nodeClass, uid), signal);
    const cloud = new Proxy(counted, {
      get: (target, name) => (name === 'snapshot' ? snapshot : Reflect.get(target, name)),
    });
    const clouds = { for: async () => cloud, dns: async () => this.#counted(dns) };
    const options = { clouds, namespaces: ['kraftlet'] };
    const reservations = new Reservations(context);
    const loops = [
      reservations,
      ...claimControllers(this.#world, { context, cloud, reservations }),
      leftoverCollection(context, options, new Metrics()),
    ];
    this.#running = Promise.allSettled(loops.map(async (each) => each.run(this.#life.signal)));
  }

  #counted<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (_, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          this.#cloudCalls += 1;
          return Reflect.apply(member, target, args) as unknown;
        };
      },
    });
  }

  #come(count: number): void {
    for (let index = 0; index < count; index++) {
      this.#world.client.seed(nodeClaims, nodeClaim(`web-${++this.made}`));
    }
  }

  /** The oldest end, each in another way. */
  #goAndCome(): void {
    const alive = this.#world.client
      .all(nodeClaims)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    for (const [index, claim] of alive.slice(0, churn).entries()) {
      this.#end(ends[index % ends.length]!, claim.metadata);
    }
    this.#come(churn);
  }

  #end(how: (typeof ends)[number], { name, uid }: { name: string; uid: string }): void {
    const { client, cloud } = this.#world;
    const instance = cloud.made.find(({ request }) => request.identity.claimUid === uid);
    if (how === 'disk kept') cloud.parts.all.push(diskOf(uid));
    if (how === 'torn off') client.remove(nodeClaims, { name });
    else if (how === 'killed' && instance) cloud.kill(instance);
    else if (how === 'stopped' && instance) instance.stopped = true;
    else void client.delete(nodeClaims, { name });
  }

  /** Until every machine is there. */
  async #settle(): Promise<void> {
    for (let second = 0; second < 600; second += 2) {
      // oxlint-disable-next-line no-await-in-loop -- keys are made beside the loop, in real time
      await pause(this.#unlaunched().length);
      // oxlint-disable-next-line no-await-in-loop -- time passes
      await this.#pass(seconds(2));
      if (this.#isWhole()) return;
    }
    throw new Error(`${this.#unlaunched().length} machines are not there after ten minutes`);
  }

  #unlaunched(): unknown[] {
    const claims = this.#world.client.all(nodeClaims);
    return claims.filter(({ status }) => status?.providerID === undefined);
  }

  #isWhole(): boolean {
    const claims = this.#world.client.all(nodeClaims);
    const staying = claims.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return staying.every(({ status }) => isTrue(status?.conditions, 'Initialized'));
  }

  async #pass(time: number): Promise<void> {
    await this.#world.kraftlets.act();
    this.#followKraftlets();
    await this.#world.clock.forward(time);
    await pause(2);
  }

  /** A Node whose Kraftlet is gone is not Ready for long: Kubernetes' own controller says so. */
  #followKraftlets(): void {
    const { client } = this.#world;
    for (const node of this.#world.nodes) {
      const key = { namespace: 'kraftlet', name: node.metadata.name };
      const isServed = client.peek(statefulSets, key) !== undefined;
      const ready = node.status?.conditions?.[0]?.status;
      const conditions = [{ type: 'Ready', status: 'Unknown' as const }];
      if (!isServed && ready !== 'Unknown') {
        client.seed(nodes, { ...node, status: { ...node.status, conditions } });
      }
    }
  }
}

function diskOf(claimUid: string) {
  const place = { zone: 'eu-central-1a', state: 'available', isFree: true };
  return { kind: 'volume', id: `vol-${claimUid}`, claimUid, ...place } as const;
}

function heapNow(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return Math.round((process.memoryUsage().heapUsed / 2 ** 20) * 10) / 10;
}

function meanOf(tallies: readonly Tally[]): Tally {
  const mean = (of: (one: Tally) => number): number =>
    Math.round((tallies.reduce((sum, one) => sum + of(one), 0) / tallies.length) * 10) / 10;
  return {
    calls: mean(({ calls }) => calls),
    cloudCalls: mean(({ cloudCalls }) => cloudCalls),
    heap: mean(({ heap }) => heap),
  };
}
