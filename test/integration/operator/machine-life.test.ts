import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { minutes } from '#schemas/time/clock.ts';
import { nodeClass, nodePool, optedInPod } from '#test/world/objects.ts';
import { TestWorld } from '#test/world/test-world.ts';

let world: TestWorld;

beforeAll(async () => {
  world = await TestWorld.start(inject('tools'));
  await world.expectApplied(nodeClass(), nodePool());
});
afterAll(async () => world?.stop());

test('a machine that stays degraded never becomes a Node', async () => {
  world.cloud.machines.next({ health: 'degraded' });
  await world.expectApplied(optedInPod('first', { cpu: '2' }));
  const [claim] = await world.expectClaims(1);
  if (!claim) throw new Error('no claim');
  await world.expectCondition(claim, 'InstanceRunning', { status: 'True' });
  await world.expectCondition(claim, 'PlatformHealthy', { status: 'Unknown' });

  await world.clock.forward(minutes(21));

  await world.expectGone(claim, { reason: 'HealthDeadlineExceeded' });
  expect(world.nodesEverSeen()).toEqual([]);
  const pod = await world.expectScheduled('first'); // another machine was tried
  expect(world.nodesEverSeen()).toEqual([pod.spec?.nodeName]);
});
