import { afterEach, beforeEach, expect, test } from 'vitest';

import { nodePools } from '#schemas/karpenter/types.ts';
import { quotaPolicy } from '#schemas/quotapolicy/samples.ts';
import { unikraftQuotaPolicies, type UnikraftQuotaPolicySpec } from '#schemas/quotapolicy/types.ts';
import { seconds } from '#schemas/time/clock.ts';

import { World } from './testing/world.ts';

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.end());

function seedPolicy(
  ceilings: UnikraftQuotaPolicySpec['ceilings'],
  enforcement: UnikraftQuotaPolicySpec['enforcement'] = 'Cap',
): void {
  const made = quotaPolicy({ enforcement, ceilings });
  delete made.spec.selector;
  const generation =
    (world.client.peek(unikraftQuotaPolicies, { name: 'all' })?.metadata.generation ?? 0) + 1;
  world.client.seed(unikraftQuotaPolicies, { ...made, metadata: { name: 'all', generation } });
}

const alive = () => world.claims.filter(({ metadata }) => !metadata.deletionTimestamp);

test('machines stop at the ceiling of all pools, and condition, event and Pods name the policy', async () => {
  const pool = world.seedPool('web', { cpu: '1000' });
  seedPolicy({ total: { nodes: 3 } });
  const { limits } = world.start();
  for (let index = 0; index < 60; index++) world.seedPod(`p${index}`, { cpu: '7' });
  await world.clock.forward(seconds(30));

  expect(alive()).toHaveLength(3);
  expect(world.claims).toHaveLength(3); // none was made in vain
  const told = /^limit nodes 3 of UnikraftQuotaPolicy all is reached, 3 in use.*\(KPU341\)$/i;
  expect(limits.conditionsOf(pool)).toMatchObject([
    { status: 'True', message: expect.stringMatching(told) },
  ]);
  expect(world.notesOf('LimitReached')).toMatchObject([{ message: expect.stringMatching(told) }]);
  expect(world.notesOf('FailedScheduling')[0]?.message).toContain(
    'limit nodes 3 of UnikraftQuotaPolicy all is reached',
  );
});

test('pools that share a ceiling never have more together, and what is made in vain is not launched', async () => {
  world.seedPool('web');
  world.seedPool('batch');
  seedPolicy({ total: { cpu: 16 }, perNodePool: { nodes: 5 } });
  const { reservations } = world.start();
  for (let index = 0; index < 40; index++) {
    const nodeSelector = { 'karpenter.sh/nodepool': index % 2 === 0 ? 'web' : 'batch' };
    world.seedPod(`p${index}`, { cpu: '8' }, { spec: { nodeSelector } });
  }

  await world.clock.forward(seconds(40));

  const held = alive().filter((claim) => reservations.holds(claim));
  expect(held).toHaveLength(2);
  for (const { message } of world.notesOf('LimitReached')) expect(message).toContain(', 16 in use');
});

test('sizes are planned as the ceiling for machines leaves them', async () => {
  world.seedPool('web');
  seedPolicy({ perMachine: { vcpus: 2 } });
  world.start();
  for (let index = 0; index < 4; index++) world.seedPod(`p${index}`, { cpu: '1500m' });
  world.seedPod('too-big', { cpu: '4' });

  await world.clock.forward(seconds(5));

  expect(alive()).toHaveLength(4); // one Pod each, though machines of 8 vCPUs are sold
});

test('a ceiling that is raised lets waiting Pods go on, and one that only warns never held them', async () => {
  world.seedPool('web');
  seedPolicy({ total: { nodes: 0 } });
  world.start();
  world.seedPod('a', { cpu: '8' });
  await world.clock.forward(seconds(5));
  expect(alive()).toHaveLength(0);

  seedPolicy({ total: { nodes: 1 } });
  await world.clock.forward(seconds(5));
  expect(alive()).toHaveLength(1);

  seedPolicy({ total: { nodes: 0 } }, 'Warn');
  world.seedPod('b', { cpu: '8' });
  await world.clock.forward(seconds(5));
  expect(alive()).toHaveLength(2);
  expect(world.client.peek(nodePools, { name: 'web' })?.spec.limits).toBeUndefined();
});
