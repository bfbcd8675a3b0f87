import { afterAll, beforeAll, expect, inject, test } from 'vitest';

import { pods, statefulSets } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { minutes } from '#schemas/time/clock.ts';
import { nodeClass, nodePool, optedInPod, standaloneClaim } from '#test/world/objects.ts';
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

test('a platform whose quotas are no amounts never becomes a Node either, and says why', async () => {
  world.cloud.machines.next({ quotas: { memoryMiB: 1e21 } });
  await world.expectApplied(standaloneClaim('boundless'));
  const claim = await world.eventually('the claim', async () =>
    (await world.claims()).find(({ metadata }) => metadata.name === 'boundless'),
  );
  const { message } = await world.expectCondition(claim, 'PlatformHealthy', {
    status: 'Unknown',
    reason: 'PlatformUnavailable',
  });
  expect(message).toMatch(/quota live_memory_mb 1e\+21, which is no amount \(KPU324\)$/);

  await world.clock.forward(minutes(21));

  await world.expectGone(claim, { reason: 'HealthDeadlineExceeded' });
});

test('a Kraftlet that somebody deletes comes back, and its machine and Pods stay', async () => {
  const [claim] = await world.expectClaims(1);
  const first = await world.expectScheduled('first');
  const labelSelector = `${labels.claimUid}=${claim?.metadata.uid}`;
  const kraftlets = async () => (await world.client.list(statefulSets, { labelSelector })).items;
  const [before] = await kraftlets();

  await world.client.delete(statefulSets, before!.metadata);

  await world.eventually('Kraftlet again', async () => {
    const [again] = await kraftlets();
    return again?.metadata.uid !== before?.metadata.uid && again?.status?.readyReplicas === 1;
  });
  const told = await world.expectEvent(claim!, 'KraftletReinstalled');
  expect(told.message).toMatch(/^StatefulSet of Kraftlet release /);
  expect((await world.expectScheduled('first')).metadata.uid).toBe(first.metadata.uid);
  await world.expectDeleted(first); // which only a Kraftlet can have end
  await world.eventually('first gone', async () => {
    const { items } = await world.client.list(pods);
    return items.every(({ metadata }) => metadata.uid !== first.metadata.uid);
  });
  await world.expectApplied(optedInPod('second', { cpu: '2' }));
  const second = await world.expectScheduled('second');
  expect(second.spec?.nodeName).toBe(first.spec?.nodeName);
  expect(await world.expectClaims(1)).toMatchObject([{ metadata: { uid: claim?.metadata.uid } }]);
});
