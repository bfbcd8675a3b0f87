import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';

import { nodeClaims, nodePools, type NodeClaim, type NodePool } from '#schemas/karpenter/types.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { configMaps } from '#schemas/kubernetes/resource.ts';
import { group, labels, nodeClassKind } from '#schemas/names.ts';
import { fits } from '#schemas/quantity/resources.ts';

import { memoryContext } from '../testing/context.ts';
import { unavailable } from '../testing/refusals.ts';
import { configMapName, wholeCluster } from './names.ts';
import { Reservations } from './reservations.ts';
import { leftOf } from './room.ts';

const nodeClassRef = { group, kind: nodeClassKind, name: 'default' };
const signal = new AbortController().signal;
let world: ReturnType<typeof memoryContext>;
beforeEach(() => {
  world = memoryContext();
});

function seedPool(name: string, limits?: ResourceList): Live<NodePool> {
  const template = { spec: { nodeClassRef, requirements: [] } };
  const spec = limits ? { template, limits } : { template };
  return world.client.seed(nodePools, { metadata: { name }, spec });
}

function seedClaim(name: string, pool = 'batch', status?: NodeClaim['status']): Live<NodeClaim> {
  const metadata = { name, labels: { [labels.nodePool]: pool } };
  const spec = { nodeClassRef, requirements: [] };
  return world.client.seed(nodeClaims, { metadata, spec, ...(status ? { status } : {}) });
}

const stored = (pool = 'batch') =>
  world.client.peek(configMaps, { namespace: world.namespace, name: configMapName(pool) });
const holders = (pool?: string): string[] => Object.keys(stored(pool)?.data ?? {});
const started = async (): Promise<Reservations> => {
  const reservations = new Reservations(world.context);
  await reservations.rebuild(signal);
  reservations.follow(signal);
  return reservations;
};

describe('room in a pool', () => {
  test('is given until the first limit has none, and the denial says which', async () => {
    const pool = seedPool('batch', { cpu: '8', nodes: '10' });
    const reservations = await started();

    expect(await reservations.reserve(pool, seedClaim('a'), { cpu: '6', memory: '8Gi' })).toEqual({
      granted: true,
    });
    expect(await reservations.reserve(pool, seedClaim('b'), { cpu: '3' })).toEqual({
      granted: false,
      resource: 'cpu',
      limit: '8',
      use: '6',
      asked: '3',
    });
    expect(reservations.used('batch')).toEqual({ cpu: '6', memory: '8Gi', nodes: '1' });
    expect(leftOf(reservations.room(pool))).toEqual({ cpu: '2', nodes: '9' });
  });

  test('asking again changes nothing and writes nothing, another size replaces the first', async () => {
    const pool = seedPool('batch', { cpu: '8' });
    const reservations = await started();
    const claim = seedClaim('a');
    await reservations.reserve(pool, claim, { cpu: '6' });
    const before = world.client.writes.length;

    await reservations.reserve(pool, claim, { cpu: '6000m' });
    expect(world.client.writes.length).toBe(before);

    expect(await reservations.reserve(pool, claim, { cpu: '9' })).toMatchObject({ granted: false });
    expect(reservations.used('batch')['cpu']).toBe('6');
    await reservations.reserve(pool, claim, { cpu: '2' });
    expect(reservations.used('batch')['cpu']).toBe('2');
  });

  test('is what a machine is found to take, above the limit too; others are judged by it', async () => {
    const pool = seedPool('batch', { cpu: '8' });
    const reservations = await started();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => seedClaim(name));
    await reservations.reserve(pool, a!, { cpu: '2' });

    await reservations.hold(a!, { cpu: '7' });
    expect(await reservations.reserve(pool, b!, { cpu: '2' })).toMatchObject({ use: '7' });
    await reservations.hold(a!, { cpu: '12' });
    expect(reservations.used('batch')).toEqual({ cpu: '12', nodes: '1' });
    expect(await reservations.reserve(pool, c!, { cpu: '1' })).toMatchObject({ use: '12' });
    await reservations.hold(a!, { cpu: '4' });
    expect(await reservations.reserve(pool, c!, { cpu: '4' })).toEqual({ granted: true });

    const after = new Reservations(world.context);
    expect(after.used('batch')).toEqual({ cpu: '8', nodes: '2' });
    await reservations.release('batch', a!.metadata.uid);
    expect(reservations.used('batch')).toEqual({ cpu: '4', nodes: '1' });
  });

  test('is not given to one who asks at the moment in which a machine is found to take it', async () => {
    const pool = seedPool('batch', { cpu: '8' });
    const reservations = await started();
    const [a, b] = ['a', 'b'].map((name) => seedClaim(name));
    await reservations.reserve(pool, a!, { cpu: '2' });
    const [verdict] = await Promise.all([
      reservations.reserve(pool, b!, { cpu: '4' }),
      reservations.hold(a!, { cpu: '6' }),
    ]);
    expect(verdict).toMatchObject({ granted: false, use: '6' });
  });

  test('a machine keeps its room when the limit is lowered below it', async () => {
    const pool = seedPool('batch', { cpu: '8' });
    const reservations = await started();
    const claim = seedClaim('a');
    await reservations.reserve(pool, claim, { cpu: '6' });
    const lowered = seedPool('batch', { cpu: '4' });

    expect(await reservations.reserve(lowered, claim, { cpu: '6' })).toEqual({ granted: true });
    expect(leftOf(reservations.room(lowered))).toEqual({ cpu: '-2' });
  });

  test('comes back with a release, and without limits everything fits', async () => {
    const pool = seedPool('batch', { nodes: '1' });
    const reservations = await started();
    const [first, second] = [seedClaim('a'), seedClaim('b')];
    await reservations.reserve(pool, first, {});
    expect(await reservations.reserve(pool, second, {})).toMatchObject({
      resource: 'nodes',
      limit: '1',
    });

    await reservations.release('batch', first.metadata.uid);
    expect(await reservations.reserve(pool, second, {})).toEqual({ granted: true });
    expect(
      await reservations.reserve(seedPool('free'), seedClaim('c', 'free'), { cpu: '999' }),
    ).toEqual({ granted: true });
  });
});

describe('many at once', () => {
  test('200 asks of two leaders with stale caches never exceed the limits, and share writes', async () => {
    const pool = seedPool('batch', { cpu: '64', nodes: '40' });
    const leaders = [await started(), await started()];
    world.caches.reservations.fallBehind();
    const claims = Array.from({ length: 200 }, (_, index) => seedClaim(`c${index}`));

    const verdicts = await Promise.all(
      claims.map((claim, index) =>
        leaders[index % 2]!.reserve(pool, claim, { cpu: `${1 + (index % 3)}` }),
      ),
    );

    const granted = verdicts.filter((verdict) => verdict.granted).length;
    expect(holders()).toHaveLength(granted);
    const fresh = await started();
    world.caches.reservations.catchUp();
    expect(fits(fresh.used('batch'), { cpu: '64', nodes: '40' })).toBe(true);
    expect(leftOf(fresh.room(pool))['cpu']).toBe('0');
    expect(world.client.writes.length).toBeLessThan(10);
  });

  test('whatever two leaders do in whatever order, use stays within limits', async () => {
    const step = fc.record({
      leader: fc.nat(1),
      claim: fc.nat(9),
      cpu: fc.integer({ min: 1, max: 5 }),
      release: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 6 }),
        async (rounds) => {
          world = memoryContext();
          const pool = seedPool('batch', { cpu: '12' });
          const leaders = [await started(), await started()];
          const claims = Array.from({ length: 10 }, (_, index) => seedClaim(`c${index}`));
          for (const round of rounds) {
            await Promise.all(
              round.map(async ({ leader, claim, cpu, release }) => {
                const [reservations, target] = [leaders[leader]!, claims[claim]!];
                if (release) return reservations.release('batch', target.metadata.uid);
                return reservations.reserve(pool, target, { cpu: `${cpu}` });
              }),
            );
            const used = Object.values(stored()?.data ?? {}).map((text) =>
              Number(JSON.parse(text).resources.cpu),
            );
            expect(used.reduce((sum, cpu) => sum + cpu, 0)).toBeLessThanOrEqual(12);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('an old leader that thaws learns that its claim has lost its room', async () => {
    const pool = seedPool('batch', { nodes: '1' });
    const [old, next] = [await started(), await started()];
    const [first, second] = [seedClaim('a'), seedClaim('b')];
    await old.reserve(pool, first, {});
    await next.release('batch', first.metadata.uid);
    await next.reserve(pool, second, {});

    expect(await old.reserve(pool, first, {})).toMatchObject({ granted: false });
  });
});

describe('what the API server does', () => {
  test('an unknown outcome is told to all who wait, and the next ask reads anew', async () => {
    const pool = seedPool('batch', { nodes: '2' });
    const reservations = await started();
    world.client.fail(({ verb }) => verb === 'create', unavailable());

    const failed = await Promise.allSettled(
      ['a', 'b'].map(async (name) => reservations.reserve(pool, seedClaim(name), {})),
    );

    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await reservations.reserve(pool, seedClaim('c'), {})).toEqual({ granted: true });
  });

  test('a ledger that someone spoilt or removed is rebuilt from the machines there are', async () => {
    const pool = seedPool('batch', { cpu: '8' });
    const running = {
      providerID: 'unikraft://aws/eu/1a/i-1',
      capacity: { cpu: '6', memory: '8Gi' },
    };
    const claim = seedClaim('a', 'batch', running);
    const reservations = await started();
    const key = { namespace: world.namespace, name: configMapName('batch') };
    expect(holders()).toEqual([claim.metadata.uid]);

    await world.client.patch(configMaps, key, {
      type: 'merge',
      body: { data: { [claim.metadata.uid]: 'lost' } },
    });
    expect(await reservations.reserve(pool, seedClaim('b'), { cpu: '3' })).toMatchObject({
      use: '6',
    });
    world.client.remove(configMaps, key);
    expect(await reservations.reserve(pool, seedClaim('c'), { cpu: '3' })).toMatchObject({
      use: '6',
    });
  });
});

describe('claims that end together', () => {
  const machine = { providerID: 'unikraft://aws/eu/1a/i-1', capacity: { cpu: '6' } };

  test('what one gives back twice does not bring back what another has given back', async () => {
    seedPool('batch', { cpu: '12' });
    const claims = ['a', 'b'].map((name) => seedClaim(name, 'batch', machine));
    const reservations = await started();
    for (const { metadata } of claims) await reservations.release('batch', metadata.uid);
    expect(stored(wholeCluster)).toBeUndefined();

    const [first] = claims; // both are there until their finalizer goes
    await reservations.release('batch', first?.metadata.uid ?? '');

    expect([holders(), holders(wholeCluster)]).toEqual([[], []]);
  });

  test('a ledger that goes missing meanwhile still counts the machines there are', async () => {
    const pool = seedPool('batch', { cpu: '8' });
    seedClaim('a', 'batch', machine);
    const reservations = await started();
    world.client.remove(configMaps, { namespace: world.namespace, name: configMapName('batch') });

    await reservations.release('batch', 'somebody else');

    expect(await reservations.reserve(pool, seedClaim('b'), { cpu: '3' })).toMatchObject({
      granted: false,
      use: '6',
    });
  });

  test.each(Array.from({ length: 20 }, (_, turns) => turns))(
    'one that is gone %i turns after its room began to be counted anew leaves none behind',
    async (turns) => {
      const pool = seedPool('batch', { cpu: '8' });
      const reservations = await started();
      const leaving = seedClaim('a', 'batch', machine);
      const taken = reservations.reserve(pool, seedClaim('b'), { cpu: '1' }); // no ledger: counts a
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      world.client.remove(nodeClaims, { name: leaving.metadata.name });
      await taken;
      await world.clock.forward(0);

      expect(holders()).not.toContain(leaving.metadata.uid);
      expect(holders(wholeCluster)).not.toContain(leaving.metadata.uid);
    },
  );
});

describe('the life of a ledger', () => {
  test('a new leader drops holders that are gone and adds machines that are not in it', async () => {
    const pool = seedPool('batch', { cpu: '8' });
    const first = await started();
    const gone = seedClaim('gone');
    await first.reserve(pool, gone, { cpu: '4' });
    world.caches.nodeClaims.fallBehind();
    world.client.remove(nodeClaims, { name: 'gone' });
    const lost = seedClaim('lost', 'batch', { providerID: 'x', capacity: { cpu: '3' } });

    const next = await started();

    expect(holders()).toEqual([lost.metadata.uid]);
    expect(next.used('batch')).toEqual({ cpu: '3', nodes: '1' });
  });

  test('a claim that is deleted by force gives its room back', async () => {
    const pool = seedPool('batch', { nodes: '1' });
    const reservations = await started();
    await reservations.reserve(pool, seedClaim('a'), {});
    world.client.remove(nodeClaims, { name: 'a' });

    expect(await reservations.reserve(pool, seedClaim('b'), {})).toEqual({ granted: true });
  });

  test.each(['claim first', 'pool first'])(
    'the ConfigMap goes with pool and last holder: %s',
    async (order) => {
      const name = `${'long-'.repeat(12)}a.b`;
      const pool = seedPool(name, { nodes: '1' });
      const reservations = await started();
      const claim = seedClaim('a', name);
      await reservations.reserve(pool, claim, {});
      expect(stored(name)?.metadata.labels).toBeDefined();

      const steps = [
        async () => reservations.release(name, claim.metadata.uid),
        async () => world.client.delete(nodePools, { name }),
      ];
      for (const step of order === 'claim first' ? steps : steps.toReversed()) await step();
      await world.clock.forward(0);

      expect(stored(name)).toBeUndefined();
    },
  );
});
