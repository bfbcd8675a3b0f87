import { beforeEach, expect, test, vi } from 'vitest';

import { nodeClaims } from '#schemas/karpenter/types.ts';
import { controllerRevisions, nodes } from '#schemas/kubernetes/resource.ts';
import { annotations } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { ClaimWorld, noLeaks, revisionName } from '../../testing/claim-world.ts';

let world: ClaimWorld;
beforeEach(async () => {
  world = await ClaimWorld.make();
});

const reasons = (): string[] => world.notes.map(({ reason }) => reason);

test('an intent that somebody spoilt ends the claim rather than making a second machine', async () => {
  world.cloud.launchFaults.push('answer lost');
  await world.claim();
  await world.pass();
  const body = { metadata: { annotations: { [annotations.intent]: '{"attempt":' } } };
  await world.client.patch(nodeClaims, { name: 'web-1' }, { type: 'merge', body });
  await world.gone();
  expect(reasons()).toContain('LaunchIntentUnreadable');
  expect(world.cloud.made).toHaveLength(1);
  expect(world.leaks()).toEqual(noLeaks);
});

test('a revision deleted under a launch is told, and restored it goes on', async () => {
  world.platform.status = 'unknown';
  await world.claim();
  await world.until(() => world.condition('InstanceRunning')?.status === 'True');
  const key = { namespace: world.namespace, name: revisionName };
  const stored = world.client.peek(controllerRevisions, key);
  world.client.remove(controllerRevisions, key);
  expect(await world.pass()).toBe(seconds(30));
  expect(world.notes.at(-1)?.message).toMatch(/^ControllerRevision default-r1 is gone.*KPU334/);
  world.platform.status = 'healthy';
  if (stored) world.client.seed(controllerRevisions, stored);
  await world.initialized();
  expect(world.cloud.made).toHaveLength(1);
});

test('a revision deleted under a machine holds the claim until it is restored', async () => {
  await world.claim();
  await world.until(() => world.condition('InstanceRunning')?.status === 'True');
  const key = { namespace: world.namespace, name: revisionName };
  const stored = world.client.peek(controllerRevisions, key);
  world.client.remove(controllerRevisions, key);
  await world.delete();
  expect(await world.pass()).toBe(seconds(30));
  expect(reasons()).toContain('RevisionMissing');
  expect(world.cloud.alive).toHaveLength(1);
  if (stored) world.client.seed(controllerRevisions, stored);
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a Node that was deleted by hand takes its machine with it', async () => {
  await world.claim();
  await world.initialized();
  await world.client.delete(nodes, { name: world.nodes[0]?.metadata.name ?? '' });
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a Node whose finalizer was torn off takes its machine with it too', async () => {
  await world.claim();
  await world.initialized();
  world.client.remove(nodes, { name: world.nodes[0]?.metadata.name ?? '' });
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a Node that only the cache has lost loses no machine', async () => {
  await world.claim();
  await world.initialized();
  vi.spyOn(world.caches.nodes, 'get').mockReturnValue(undefined);
  await world.pass();
  expect(world.find()?.metadata.deletionTimestamp).toBeUndefined();
});
