import { describe, expect, test, vi } from 'vitest';

import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { silentLogger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import {
  json,
  refusal,
  ScriptedServer,
  ScriptedWatch,
  type Answer,
} from '#kube/testing/scripted-server.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { ObjectMeta } from '#schemas/kubernetes/meta.ts';
import { group, labels, nodeClassKind } from '#schemas/names.ts';
import { claim, nodeClass, pool } from '#schemas/rules/samples.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Machines } from './machines.ts';

/** An API server that serves NodeClaims by one watch, or does not, and a copy of what it shows. */
class World implements AsyncDisposable {
  readonly clock = new FakeClock();
  /** What the next request for claims gets, unless there is a fault. */
  watch = new ScriptedWatch();
  fault: Answer | undefined;
  readonly machines: Machines;
  readonly #server: ScriptedServer;
  readonly #client: UndiciKubeClient;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #version = 0;

  private constructor(server: ScriptedServer, discovery: Answer, fault?: Answer) {
    const { clock } = this;
    this.fault = fault;
    this.#server = server;
    this.#client = new UndiciKubeClient(server.connection, { clock });
    server.otherwise((response, asked) => {
      const isOfClaims = asked.path.endsWith('/nodeclaims');
      const answer = isOfClaims ? (this.fault ?? this.watch.answer) : discovery;
      answer(response, asked);
    });
    const [log, metrics] = [silentLogger, new Metrics()];
    this.machines = new Machines({ client: this.#client, clock, log, metrics });
    this.#ended = this.machines.run(this.#stop.signal);
  }

  static async open({
    discovery = json({ resources: [{ name: 'nodeclaims' }] }),
    fault,
  }: { discovery?: Answer; fault?: Answer } = {}): Promise<World> {
    return new World(await ScriptedServer.start(), discovery, fault);
  }

  get asked(): ScriptedServer['asked'] {
    return this.#server.asked;
  }

  async shows(...claims: NodeClaim[]): Promise<void> {
    for (const one of claims) await this.tells('ADDED', one); // oxlint-disable-line no-await-in-loop
    await this.bookmark({ 'k8s.io/initial-events-end': 'true' });
  }

  async tells(type: 'ADDED' | 'MODIFIED' | 'DELETED', one: NodeClaim): Promise<void> {
    const resourceVersion = String((this.#version += 1));
    const metadata = { uid: `of-${one.metadata?.name}`, ...one.metadata, resourceVersion };
    await this.watch.send(type, { ...one, metadata });
  }

  async bookmark(annotations: Record<string, string> = {}): Promise<void> {
    const metadata = { resourceVersion: String(this.#version), annotations };
    await this.watch.send('BOOKMARK', { kind: 'NodeClaim', metadata });
  }

  /** Pools and machines behind a node class of this name; undefined where nobody has counted. */
  behindClass(name = 'default'): [string, number][] | undefined {
    return counted(this.machines, { ...nodeClass(), metadata: { name } });
  }

  behindPool(name: string): [string, number][] | undefined {
    return counted(this.machines, { ...pool([]), metadata: { name } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended;
    await this.#client.close();
    await this.#server[Symbol.asyncDispose]();
  }
}

function counted(
  machines: Machines,
  changed: Parameters<Machines['behind']>[0],
): [string, number][] | undefined {
  const counts = machines.behind(changed);
  return counts && [...counts];
}

function machine(
  name: string,
  { of, ofClass = 'default', ...more }: { of?: string; ofClass?: string } & ObjectMeta,
): NodeClaim {
  const own = { [labels.nodeClass]: ofClass, ...(of !== undefined && { [labels.nodePool]: of }) };
  const sample = claim([]);
  const nodeClassRef = { group, kind: nodeClassKind, name: ofClass };
  return {
    ...sample,
    metadata: { name, labels: own, ...more },
    spec: { ...sample.spec, nodeClassRef },
  };
}

/** Moves time until the API server has been asked so often. */
async function untilAsked({ asked, clock }: World, times: number): Promise<void> {
  await vi.waitFor(async () => {
    await clock.forward(seconds(15));
    expect(asked.length).toBeGreaterThanOrEqual(times);
  });
}

describe('machines behind what is changed', () => {
  test('are counted by pool, for a node class and for a pool', async () => {
    await using world = await World.open();
    await world.shows(
      machine('a-1', { of: 'a' }),
      machine('a-2', { of: 'a' }),
      machine('b-1', { of: 'b' }),
      machine('c-1', { of: 'c', ofClass: 'other' }),
    );
    await vi.waitFor(() => expect(world.behindClass()).toEqual(Object.entries({ a: 2, b: 1 })));
    expect(world.behindClass('other')).toEqual([['c', 1]]);
    expect(world.behindClass('unused')).toEqual([]);
    expect(world.behindPool('a')).toEqual([['a', 2]]);
    expect(world.behindPool('default')).toEqual([]);
  });

  test('are those that stand: none that is going, none without a pool, none of others', async () => {
    await using world = await World.open();
    const theirs = machine('theirs', { of: 'a' });
    theirs.spec.nodeClassRef.group = 'karpenter.k8s.aws';
    await world.shows(
      machine('stands', { of: 'a' }),
      machine('goes', { of: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' }),
      machine('by-hand', {}),
      theirs,
    );
    await vi.waitFor(() => expect(world.behindClass()).toEqual([['a', 1]]));
    expect(world.behindPool('a')).toEqual([['a', 1]]);
  });

  test('come and go with the watch', async () => {
    await using world = await World.open();
    await world.shows(machine('a-1', { of: 'a' }));
    await world.tells('ADDED', machine('a-2', { of: 'a' }));
    await vi.waitFor(() => expect(world.behindPool('a')).toEqual([['a', 2]]));
    await world.tells('DELETED', machine('a-1', { of: 'a' }));
    await vi.waitFor(() => expect(world.behindPool('a')).toEqual([['a', 1]]));
  });

  test("are asked for by the label, so that other providers' never come", async () => {
    await using world = await World.open();
    await world.watch.opened();
    const { query } = world.asked.at(-1) ?? {};
    expect(query?.get('labelSelector')).toBe('karpenter.unikraft.com/unikraftnodeclass');
  });
});

describe('nobody has counted', () => {
  test('before the first state is whole', async () => {
    await using world = await World.open();
    await world.tells('ADDED', machine('a-1', { of: 'a' }));
    expect(world.behindClass()).toBeUndefined();
  });

  test.each<[string, { discovery?: Answer; fault?: Answer }]>([
    ["the cluster has no CRDs of Karpenter's", { discovery: refusal(404, 'NotFound') }],
    ['the right to watch is refused', { fault: refusal(403, 'Forbidden') }],
    ['the API server cannot say', { discovery: refusal(500, 'InternalError') }],
  ])('where %s, and it is asked again', async (_, faults) => {
    await using world = await World.open(faults);
    await untilAsked(world, 5);
    expect(world.behindClass()).toBeUndefined();
  });

  test('when nothing has been heard for long; and again when it has', async () => {
    await using world = await World.open();
    await world.shows(machine('a-1', { of: 'a' }));
    await vi.waitFor(() => expect(world.behindClass()).toEqual([['a', 1]]));

    await world.clock.forward(minutes(2));
    expect(world.behindClass()).toEqual([['a', 1]]); // a bookmark may be late

    world.fault = refusal(500, 'InternalError');
    await world.watch.cut();
    await untilAsked(world, world.asked.length + 2);
    await world.clock.forward(minutes(4));
    expect(world.behindClass()).toBeUndefined();

    world.watch = new ScriptedWatch();
    world.fault = undefined;
    await untilAsked(world, world.asked.length + 1);
    await world.bookmark();
    await vi.waitFor(() => expect(world.behindClass()).toEqual([['a', 1]]));
  });
});
