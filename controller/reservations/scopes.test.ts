/** Room in two ledgers at once: a claim holds it in its pool's and in the cluster's, or is never launched. */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';

import { nodeClaims, nodePools, type NodeClaim, type NodePool } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { configMaps } from '#schemas/kubernetes/resource.ts';
import { annotations, group, labels, nodeClassKind } from '#schemas/names.ts';
import { quotaPolicy } from '#schemas/quotapolicy/samples.ts';
import { unikraftQuotaPolicies, type UnikraftQuotaPolicySpec } from '#schemas/quotapolicy/types.ts';
import { minutes } from '#schemas/time/clock.ts';

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

function seedPool(name: string, team = 'shop'): Live<NodePool> {
  const spec = { template: { spec: { nodeClassRef, requirements: [] } } };
  return world.client.seed(nodePools, { metadata: { name, labels: { team } }, spec });
}

function seedClaim(name: string, pool?: string, stamps = {}): Live<NodeClaim> {
  const own = pool === undefined ? {} : { [labels.nodePool]: pool };
  const metadata = { name, labels: own, annotations: stamps };
  return world.client.seed(nodeClaims, { metadata, spec: { nodeClassRef, requirements: [] } });
}

function seedPolicy(
  ceilings: UnikraftQuotaPolicySpec['ceilings'],
  changes: Partial<UnikraftQuotaPolicySpec> = {},
): void {
  world.client.seed(unikraftQuotaPolicies, quotaPolicy({ ceilings, ...changes }));
}

const holders = (scope: string): string[] => {
  const name = configMapName(scope);
  const stored = world.client.peek(configMaps, { namespace: world.namespace, name });
  return Object.keys(stored?.data ?? {});
};
const started = async (): Promise<Reservations> => {
  const reservations = new Reservations(world.context);
  await reservations.rebuild(signal);
  return reservations;
};

describe('a ceiling of all together', () => {
  test('holds over the pools that the policy selects, and leaves the others alone', async () => {
    const [web, batch, other] = [seedPool('web'), seedPool('batch'), seedPool('other', 'x')];
    seedPolicy({ total: { nodes: 2 } });
    const reservations = await started();
    await reservations.reserve(web, seedClaim('a', 'web'), {});
    await reservations.reserve(other, seedClaim('b', 'other'), {});
    await reservations.reserve(batch, seedClaim('c', 'batch'), {});

    expect(await reservations.reserve(web, seedClaim('d', 'web'), {})).toEqual({
      granted: false,
      resource: 'nodes',
      limit: '2',
      use: '2',
      asked: '1',
      policy: 'team-shop',
    });
    expect(await reservations.reserve(other, seedClaim('e', 'other'), {})).toEqual({
      granted: true,
    });
    expect(leftOf(reservations.room(web))).toEqual({ nodes: '0' });
    expect(leftOf(reservations.room(other))).toEqual({});
  });

  test('without a selector counts claims without a pool too', async () => {
    world.client.seed(unikraftQuotaPolicies, {
      ...quotaPolicy(),
      spec: { enforcement: 'Deny', ceilings: { total: { nodes: 1 } } },
    });
    const reservations = await started();
    await reservations.reserve(undefined, seedClaim('alone'), { cpu: '2' });

    const denied = await reservations.reserve(seedPool('web'), seedClaim('a', 'web'), {});

    expect(denied).toMatchObject({ granted: false, policy: 'team-shop' });
  });

  test('that comes, or selects a pool, later counts the machines that are there', async () => {
    const web = seedPool('web', 'x');
    const reservations = await started();
    await reservations.reserve(web, seedClaim('a', 'web'), { cpu: '4' });
    seedPolicy({ total: { cpu: 4 } });
    expect(leftOf(reservations.room(web))).toEqual({});

    const moved = seedPool('web', 'shop');

    expect(leftOf(reservations.room(moved))).toEqual({ cpu: '0' });
    expect((await reservations.reserve(moved, seedClaim('b', 'web'), { cpu: '1' })).granted).toBe(
      false,
    );
  });

  test('that is lowered below what is used takes nothing away and lets nothing grow', async () => {
    const web = seedPool('web');
    seedPolicy({ total: { cpu: 8 }, perNodePool: { nodes: 9 } });
    const reservations = await started();
    const claims = ['a', 'b'].map((name) => seedClaim(name, 'web'));
    for (const claim of claims) await reservations.reserve(web, claim, { cpu: '4' });

    seedPolicy({ total: { cpu: 2 }, perNodePool: { nodes: 1 } });

    for (const claim of claims) {
      expect(await reservations.reserve(web, claim, { cpu: '4' })).toEqual({ granted: true });
    }
    expect(leftOf(reservations.room(web))).toEqual({ cpu: '-6', nodes: '-1' });
    expect((await reservations.reserve(web, seedClaim('c', 'web'), { cpu: '1' })).granted).toBe(
      false,
    );
    expect(holders(wholeCluster)).toHaveLength(2);
  });

  test('counts on while the pool of its machines is gone and they are not', async () => {
    const web = seedPool('web');
    const batch = seedPool('batch');
    seedPolicy({ total: { nodes: 1 } });
    const reservations = await started();
    await reservations.reserve(web, seedClaim('a', 'web'), {});
    world.client.remove(nodePools, { name: 'web' });

    const verdict = await reservations.reserve(batch, seedClaim('b', 'batch'), {});

    expect(verdict.granted).toBe(false);
  });
});

test('claims that will take room soon leave less of it, each counted once', async () => {
  const [web, batch] = [seedPool('web'), seedPool('batch')];
  seedPolicy({ total: { cpu: 10, nodes: 5 }, perNodePool: { cpu: 8 } });
  const reservations = await started();
  const [holds, comes] = [seedClaim('a', 'web'), seedClaim('b', 'batch')];
  await reservations.reserve(web, holds, { cpu: '3' });
  const promised = [holds, comes].map((claim) => ({ claim, resources: { cpu: '4' } }));

  expect(leftOf(reservations.room(web, promised))).toEqual({ cpu: '3', nodes: '3' });
  expect(leftOf(reservations.room(batch, promised))).toEqual({ cpu: '3', nodes: '3' });
  expect(leftOf(reservations.room(web))).toEqual({ cpu: '5', nodes: '4' });
  const tooMany = promised.map(({ claim }) => ({ claim, resources: { cpu: '40' } }));
  expect(leftOf(reservations.room(batch, tooMany))).toEqual({ cpu: '0', nodes: '3' });
});

describe('between the two ledgers', () => {
  test('who dies leaves nothing that the next does not find: the claim asks again, or is gone', async () => {
    const web = seedPool('web');
    seedPolicy({ total: { nodes: 2 } });
    const first = await started();
    const [lives, dies] = [seedClaim('a', 'web'), seedClaim('b', 'web')];
    const isCluster = ({ verb, key }: { verb: string; key: string }): boolean =>
      verb === 'create' && key.endsWith(configMapName(wholeCluster));
    for (const claim of [lives, dies]) {
      world.client.fail(isCluster, unavailable());
      await expect(first.reserve(web, claim, {})).rejects.toThrow('unable to handle');
    }
    expect([holders('web'), holders(wholeCluster)].map(({ length }) => length)).toEqual([2, 0]);
    world.client.remove(nodeClaims, { name: 'b' });

    const next = await started();

    expect(holders('web')).toEqual([lives.metadata.uid]);
    expect(await next.reserve(web, lives, {})).toEqual({ granted: true });
    expect(holders(wholeCluster)).toEqual([lives.metadata.uid]);
    await next.release('web', lives.metadata.uid);
    expect([holders('web'), holders(wholeCluster)]).toEqual([[], []]);
  });

  test('who is denied by the second gives back what the first granted with its end, not before', async () => {
    const web = seedPool('web');
    seedPolicy({ total: { nodes: 0 } });
    const reservations = await started();
    reservations.follow(signal);
    const claim = seedClaim('a', 'web');
    expect((await reservations.reserve(web, claim, {})).granted).toBe(false);
    expect([holders('web').length, holders(wholeCluster).length]).toEqual([1, 0]);

    world.client.remove(nodeClaims, { name: 'a' });
    await world.clock.forward(0);

    expect(holders('web')).toEqual([]);
  });

  test('a leader that thaws takes room for a claim that is gone, and it comes back', async () => {
    const web = seedPool('web');
    const [thawed, leads] = [await started(), new Reservations(world.context)];
    const life = new AbortController();
    void leads.run(life.signal);
    const claim = seedClaim('a', 'web');
    world.client.remove(nodeClaims, { name: 'a' });
    await thawed.reserve(web, claim, {});
    expect(holders(wholeCluster)).toHaveLength(1);

    await world.clock.forward(minutes(1));

    expect([holders('web'), holders(wholeCluster)]).toEqual([[], []]);
    const asked = world.client.calls.length;
    await world.clock.forward(minutes(10));
    expect(world.client.calls.length).toBe(asked);
    life.abort();
  });

  test('a ledger of the cluster that is lost is what the claims say', async () => {
    const web = seedPool('web');
    seedPolicy({ total: { nodes: 1 } });
    const claim = seedClaim('a', 'web', { [annotations.intent]: '{}' });
    const reservations = await started();
    await reservations.reserve(web, claim, {});
    const key = { namespace: world.namespace, name: configMapName(wholeCluster) };
    world.client.remove(configMaps, key);

    expect((await reservations.reserve(web, seedClaim('b', 'web'), {})).granted).toBe(false);
  });
});

test('whatever two leaders do in whatever order, no sum is above its ceiling', async () => {
  const step = fc.record({
    leader: fc.nat(1),
    claim: fc.nat(9),
    cpu: fc.integer({ min: 1, max: 4 }),
    release: fc.boolean(),
  });
  const rounds = fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(rounds, async (all) => {
      world = memoryContext();
      const pools = [seedPool('web'), seedPool('batch')];
      seedPolicy({ total: { cpu: 10 }, perNodePool: { cpu: 7, nodes: 3 } });
      const leaders = [await started(), await started()];
      const claims = Array.from({ length: 10 }, (_, index) =>
        seedClaim(`c${index}`, pools[index % 2]!.metadata.name),
      );
      for (const round of all) {
        await Promise.all(
          round.map(async ({ leader, claim, cpu, release }) => {
            const [reservations, target] = [leaders[leader]!, claims[claim]!];
            const pool = pools[claim % 2]!;
            const { uid } = target.metadata;
            if (release) return reservations.release(pool.metadata.name, uid);
            return reservations.reserve(pool, target, { cpu: `${cpu}` });
          }),
        );
        for (const scope of ['web', 'batch', wholeCluster]) {
          expect(cpuIn(scope)).toBeLessThanOrEqual(scope === wholeCluster ? 10 : 7);
        }
        expect(holders('web').length).toBeLessThanOrEqual(3);
      }
    }),
    { numRuns: 60 },
  );
});

function cpuIn(scope: string): number {
  const name = configMapName(scope);
  const stored = world.client.peek(configMaps, { namespace: world.namespace, name });
  return Object.values(stored?.data ?? {}).reduce(
    (sum, text) => sum + Number(JSON.parse(text).resources.cpu),
    0,
  );
}
