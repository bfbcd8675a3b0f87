/** What a size offers is predicted until a machine of it was seen; the world has sizes of 2, 4 and 8 vCPUs. */
import { afterEach, beforeEach, expect, test } from 'vitest';

import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { seconds } from '#schemas/time/clock.ts';

import { World } from './testing/world.ts';

let world: World;
beforeEach(() => {
  world = new World();
  world.seedPool('web');
});
afterEach(() => world.end());

function seedPods(count: number, cpu: string, name = cpu): void {
  for (let index = 0; index < count; index++) world.seedPod(`p${name}-${index}`, { cpu });
}

/** Its machine is up and offers what was predicted. */
function opens(claim: Live<NodeClaim> | undefined, cpu = '8'): void {
  world.becomes(claim!, 'Registered', 'Initialized');
  world.seedNode(claim!);
  const node = world.client.peek(nodes, { name: claim!.metadata.name })!;
  const allocatable = { ...node.status?.allocatable, cpu };
  world.client.seed(nodes, { ...node, status: { ...node.status, allocatable } });
}

function corrected(instanceType: string): void {
  const learned = {
    revision: 'default-1',
    instanceType,
    vcpus: 3,
    memoryMiB: 9000,
    instances: 100,
  };
  const now = world.client.peek(unikraftNodeClasses, { name: 'default' });
  const spec = now?.spec ?? ({} as never);
  const status = { capacityCorrections: [learned] };
  world.client.seed(unikraftNodeClasses, { metadata: { name: 'default' }, spec, status });
}

test('of many Pods that fill a machine each, two go ahead until one machine was seen', async () => {
  world.start();
  seedPods(20, '8');
  await world.clock.forward(seconds(30));
  expect(world.claims).toHaveLength(2);
  const [note] = world.notesOf('FailedScheduling');
  expect(note?.message).toContain(
    'needs nearly all of a m.8, and no machine of that size has shown yet what it offers',
  );
  expect(note?.message).toMatch(/\(KPU349\)$/);

  opens(world.claims[0]);
  await world.clock.forward(seconds(30));
  expect(world.claims).toHaveLength(20);
});

test('Pods that would fit a machine with a tenth less do not wait', async () => {
  world.start();
  seedPods(20, '7200m');
  await world.clock.forward(seconds(30));
  expect(world.claims).toHaveLength(20);
});

test('Pods that fill machines together do not wait, since fewer of them on each is nothing in vain', async () => {
  world.start();
  seedPods(80, '1');
  await world.clock.forward(seconds(30));
  expect(world.claims).toHaveLength(10);
});

test('a size is believed once another one of the node class was as predicted', async () => {
  world.start();
  seedPods(1, '4');
  await world.clock.forward(seconds(5));
  opens(world.claims[0], '4');
  seedPods(5, '8');
  await world.clock.forward(seconds(30));
  expect(world.claims).toHaveLength(1 + 5);
});

test('where one size was wrong every other one is tried for itself', async () => {
  world.start();
  seedPods(1, '4');
  await world.clock.forward(seconds(5));
  opens(world.claims[0], '4');
  corrected('m.4');
  seedPods(5, '8');
  await world.clock.forward(seconds(30));
  expect(world.claims).toHaveLength(1 + 2);

  opens(world.claims[1]);
  await world.clock.forward(seconds(30));
  expect(world.claims).toHaveLength(1 + 5);
});

test('after a restart what was seen is read off the claims', async () => {
  const { kill } = world.start();
  seedPods(1, '4');
  await world.clock.forward(seconds(5));
  opens(world.claims[0], '4');
  kill();
  world.start();
  seedPods(5, '8', 'late');
  await world.clock.forward(seconds(30));
  expect(world.claims).toHaveLength(1 + 5);
});

test('machines that end before anybody saw them leave their turn to others', async () => {
  world.start();
  seedPods(6, '8');
  await world.clock.forward(seconds(30));
  for (const { metadata } of world.claims) world.client.remove(nodeClaims, { name: metadata.name });
  await world.clock.forward(seconds(60));
  expect(world.claims).toHaveLength(2);
});
