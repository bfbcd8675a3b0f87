/** What quota policies do to one machine's launch, and what they never do to one that is launched. */
import { beforeEach, expect, test } from 'vitest';

import { nodeClaims } from '#schemas/karpenter/types.ts';
import { annotations } from '#schemas/names.ts';
import { quotaPolicy } from '#schemas/quotapolicy/samples.ts';
import { unikraftQuotaPolicies, type UnikraftQuotaPolicySpec } from '#schemas/quotapolicy/types.ts';

import { ClaimWorld, noLeaks } from '../../testing/claim-world.ts';

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
});

function seedPolicy(ceilings: UnikraftQuotaPolicySpec['ceilings']): void {
  const spec = { enforcement: 'Cap', ceilings } as const;
  world.client.seed(unikraftQuotaPolicies, { ...quotaPolicy(), spec });
}

const quotasOf = (launch: number) => {
  const [, content = ''] =
    /content: (".*")/.exec(world.cloud.launches[launch]?.userData ?? '') ?? [];
  const { users } = JSON.parse(JSON.parse(content) as string) as { users: { quotas: object }[] };
  return users[0]?.quotas;
};

test('a machine is told the ceiling, its Node has it, and it is what was reserved', async () => {
  seedPolicy({ perMachine: { vcpus: 1, memory: '3Gi' }, total: { cpu: 1 } });
  await world.claim();

  await world.initialized();

  expect(quotasOf(0)).toMatchObject({ vcpus: 1, memoryMiB: 3072 });
  expect(world.find()?.status?.capacity).toMatchObject({ cpu: '1', memory: '3072Mi' });
  expect(world.nodes[0]?.status?.capacity).toMatchObject({ cpu: '1', memory: '3072Mi' });
  expect(world.notes.map(({ reason }) => reason)).not.toContain('QuotasDiffer');
});

test('a launch whose answer was lost is repeated with the ceiling it began with', async () => {
  seedPolicy({ perMachine: { vcpus: 1 } });
  world.cloud.lateBy = 60_000; // lists do not show it: only the token can
  world.cloud.launchFaults.push('answer lost');
  await world.claim();
  await world.pass();
  seedPolicy({ perMachine: { vcpus: 2 } });

  await world.initialized();

  expect(world.cloud.made).toHaveLength(1);
  expect(world.cloud.launches.length).toBeGreaterThan(1);
  expect(quotasOf(1)).toEqual(quotasOf(0));
  expect(world.find()?.status?.capacity).toMatchObject({ cpu: '1' });
});

test('a ceiling that is lowered later leaves the machine as it is', async () => {
  await world.claim();
  await world.initialized();
  const before = world.find();

  seedPolicy({ perMachine: { vcpus: 1 }, perNodePool: { nodes: 0 }, total: { nodes: 0 } });
  for (let looks = 0; looks < 5; looks++) await world.look();

  expect(world.find()?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  expect(world.cloud.alive).toHaveLength(1);
});

test('a claim that a policy leaves no room ends unlaunched, and leaves nothing', async () => {
  seedPolicy({ total: { nodes: 0 } });
  await world.claim();

  await world.gone();

  expect(world.cloud.launches).toEqual([]);
  expect(world.notes).toContainEqual(
    expect.objectContaining({
      reason: 'LimitReached',
      message: expect.stringMatching(
        /UnikraftQuotaPolicy team-shop is at its limit of 0 nodes.*KPU341/,
      ),
    }),
  );
  expect(world.leaks()).toEqual(noLeaks);
});

test('a size of which a ceiling leaves nothing is not launched', async () => {
  seedPolicy({ perMachine: { memory: '100k' } });
  await world.claim();

  await world.gone();

  expect(world.cloud.launches).toEqual([]);
  expect(world.leaks()).toEqual(noLeaks);
});

test('the intent says the ceiling only where there is one', async () => {
  const intentOf = () => world.find()?.metadata.annotations?.[annotations.intent];
  await world.claim();
  await world.pass();
  expect(intentOf()).not.toContain('cap');
  seedPolicy({ perMachine: { instances: 5 } });
  await world.claim({}, 'web-2');
  await world.pass('web-2');
  const second = world.client.peek(nodeClaims, { name: 'web-2' });
  expect(JSON.parse(second?.metadata.annotations?.[annotations.intent] ?? '{}')).toMatchObject({
    cap: { instances: 5 },
  });
});
