import { beforeEach, describe, expect, test } from 'vitest';

import { getCondition } from '#kube/conditions.ts';
import { nodeClaims, nodePools, type NodePool } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { quotaPolicy } from '#schemas/quotapolicy/samples.ts';
import { unikraftQuotaPolicies, type UnikraftQuotaPolicy } from '#schemas/quotapolicy/types.ts';
import { seconds } from '#schemas/time/clock.ts';

import { Reservations } from '../reservations/reservations.ts';
import { memoryContext } from '../testing/context.ts';
import { foreignRef, nodeClaim, nodeClass, nodePool } from '../testing/objects.ts';
import { QuotaPolicyController } from './controller.ts';
import { cappedCondition } from './pool-conditions.ts';

let world: ReturnType<typeof memoryContext>;
let reservations: Reservations;
let controller: QuotaPolicyController;
beforeEach(() => {
  world = memoryContext();
  reservations = new Reservations(world.context);
  controller = new QuotaPolicyController(world.context, reservations);
});

const shop = { metadata: { labels: { team: 'shop' } } };

function seedPool(name: string, limits?: Record<string, string>, rest = shop): Live<NodePool> {
  const made = nodePool(limits ? { limits } : {}, name);
  return world.client.seed(nodePools, { ...made, metadata: { name, ...rest.metadata } });
}

function seedPolicy(changes: Partial<UnikraftQuotaPolicy['spec']> = {}): void {
  world.client.seed(unikraftQuotaPolicies, quotaPolicy(changes));
}

async function seen(): Promise<Live<UnikraftQuotaPolicy>> {
  await world.clock.forward(seconds(1));
  await controller.reconcile('team-shop');
  const policy = world.client.peek(unikraftQuotaPolicies, { name: 'team-shop' });
  if (!policy) throw new Error('the policy is gone');
  return policy;
}

const conditionOf = ({ status }: UnikraftQuotaPolicy, type: string) =>
  getCondition(status?.conditions, type);

async function reserve(pool: Live<NodePool>, name: string, cpu: string) {
  const claim = world.client.seed(nodeClaims, nodeClaim(name, {}, pool.metadata.name));
  return reservations.reserve(pool, claim, { cpu, memory: '1Gi' });
}

describe('the status of a policy', () => {
  test('shows what each selected pool asks for, what holds, and what is used', async () => {
    const capacity = { vcpus: '400%', memory: '64Gi' };
    world.client.seed(unikraftNodeClasses, nodeClass({ platform: { capacity } }));
    const web = seedPool('web', { cpu: '1000', pods: '10' });
    seedPool('other', undefined, { metadata: { labels: { team: 'other' } } });
    seedPolicy();
    await reserve(web, 'web-1', '6');

    const { status, spec } = await seen();

    expect(spec).toEqual(quotaPolicy().spec); // nobody writes into a spec
    expect(status).toMatchObject({
      selectedNodePools: 1,
      nodePools: [
        {
          name: 'web',
          requested: { cpu: '1000' },
          effective: { cpu: '256', nodes: '20' },
          use: { cpu: '6', nodes: '1' },
          machineRequested: { vcpus: '400%', memory: '64Gi' },
          machineEffective: { vcpus: '32', memory: '131072Mi' },
        },
      ],
      total: {
        effective: { cpu: '512', memory: '2Ti', nodes: '30' },
        use: { cpu: '6', memory: '1Gi', nodes: '1' },
      },
    });
  });

  test('says who asks for more, until nobody does', async () => {
    seedPool('web', { cpu: '1000', nodes: '20' });
    seedPolicy();
    expect(conditionOf(await seen(), 'Capped')).toMatchObject({
      status: 'True',
      message: 'NodePool web spec.limits.cpu: 1000 is asked for, 256 holds (KPU344)',
    });

    seedPool('web', { cpu: '256', nodes: '20' });

    expect(conditionOf(await seen(), 'Capped')).toMatchObject({ status: 'False', message: '' });
  });

  test('says which sum leaves no room, with one event when it begins', async () => {
    const web = seedPool('web');
    seedPolicy({ ceilings: { total: { nodes: 1 }, perNodePool: { cpu: '6' } } });
    expect(conditionOf(await seen(), 'LimitReached')?.status).toBe('False');
    await reserve(web, 'web-1', '6');

    const policy = await seen();
    await seen();

    expect(conditionOf(policy, 'LimitReached')).toMatchObject({
      status: 'True',
      reason: 'LimitReached',
      message:
        'Limit nodes 1 is reached by all together, 1 in use; limit cpu 6 is reached by NodePool web, 6 in use (KPU341)',
    });
    expect(world.notes.map(({ reason }) => reason)).toEqual(['LimitReached']);
  });

  test('of one that only tells says so, and holds nothing back', async () => {
    const web = seedPool('web', { cpu: '1000', nodes: '1' });
    seedPolicy({ enforcement: 'Warn', ceilings: { total: { nodes: 0 }, perNodePool: { cpu: 1 } } });

    expect((await reserve(web, 'web-1', '6')).granted).toBe(true);
    const policy = await seen();

    expect(conditionOf(policy, 'Ready')?.reason).toBe('NotEnforced');
    expect(conditionOf(policy, 'Capped')).toMatchObject({ status: 'False', reason: 'NotEnforced' });
    expect(conditionOf(policy, 'LimitReached')?.reason).toBe('NotEnforced');
    expect(policy.status?.nodePools?.[0]?.effective).toEqual({ cpu: '1k', nodes: '1' });
    expect(world.notes).toEqual([]);
  });

  test("has nothing of another provider's pools, and survives limits that are none", async () => {
    const theirs = nodePool({}, 'theirs');
    theirs.spec.template.spec.nodeClassRef = foreignRef;
    world.client.seed(nodePools, { ...theirs, metadata: { name: 'theirs', ...shop.metadata } });
    seedPool('web', { cpu: 'lots' });
    seedPolicy();

    const { status } = await seen();

    expect(status?.nodePools?.map(({ name, effective }) => [name, effective])).toEqual([
      ['web', {}],
    ]);
  });

  test('is written once a second, and not at all when nothing is new', async () => {
    const web = seedPool('web');
    seedPolicy();
    await seen();
    const before = world.client.writes.length;
    await seen();
    expect(world.client.writes.length).toBe(before);

    await reserve(web, 'web-1', '1');
    await seen();
    await reserve(web, 'web-2', '1');
    expect(await controller.reconcile('team-shop')).toEqual({ requeueAfter: seconds(1) });
  });
});

describe('Capped on a NodePool', () => {
  const shown = (pool: Live<NodePool>) => cappedCondition(reservations.ceilings)(pool);

  test('names what is asked for, what holds and who says so', () => {
    seedPolicy();
    expect(shown(seedPool('web', { cpu: '1000' }))).toMatchObject([
      {
        status: 'True',
        message:
          'spec.limits.cpu: 1000 is asked for, 256 holds by UnikraftQuotaPolicy team-shop; ' +
          'spec.limits.nodes: no limit is asked for, 20 holds by UnikraftQuotaPolicy team-shop (KPU344)',
      },
    ]);
  });

  test('is not there on a pool that was never capped, and says False once it is no more', () => {
    const limits = { cpu: '2', nodes: '2' };
    seedPolicy();
    expect(shown(seedPool('web', limits))).toEqual([]);
    const had = seedPool('web', limits);
    const capped = {
      ...had,
      status: { conditions: [{ type: 'Capped', status: 'True' as const }] },
    };
    expect(shown(capped)).toMatchObject([{ status: 'False' }]);
  });
});

describe('what one machine may offer', () => {
  test('is cut in each size that is offered, and the same answer is the same array', () => {
    seedPolicy({ ceilings: { perMachine: { vcpus: 4, memory: '8Gi', instances: 50 } } });
    const web = seedPool('web');
    const capacity = { cpu: '6', memory: '28672Mi', pods: '1000' };
    const offer = { revision: 'r', nodeClass: {}, instanceTypes: [{ name: 'm', capacity }] };
    const { ceilings } = reservations;
    const of = ceilings.membership('web', 'default', web);

    const first = ceilings.under(offer as never, of);

    expect(first.instanceTypes[0]?.capacity).toEqual({ cpu: '4', memory: '8192Mi', pods: '50' });
    expect(ceilings.under(offer as never, of).instanceTypes).toBe(first.instanceTypes);
    const others = ceilings.membership(undefined, 'default');
    expect(ceilings.under(offer as never, others)).toBe(offer);
  });
});
