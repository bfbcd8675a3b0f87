import { beforeEach, expect, test } from 'vitest';

import { Throttled } from '#machine/errors.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { controllerRevisions, nodes } from '#schemas/kubernetes/resource.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { Revisions } from '../../nodeclass/revisions.ts';
import { ClaimWorld, noLeaks, revisionName } from '../../testing/claim-world.ts';
import { Collector } from './collector.ts';

let world: ClaimWorld;
let collect: () => Promise<void>;
beforeEach(async () => {
  world = await ClaimWorld.make();
  const { context, cloud, dns } = world;
  const clouds = { for: async () => cloud, dns: async () => dns };
  const collector = new Collector(context, clouds, new Revisions(context));
  collect = async () => collector.collect(new AbortController().signal);
  await world.claim();
  await world.initialized();
  await world.clock.forward(minutes(2));
});

const isLeaving = (): boolean => world.find()?.metadata.deletionTimestamp !== undefined;
const instance = () => {
  const [made] = world.cloud.made;
  if (!made) throw new Error('no instance');
  return made;
};

test('a machine that is well is left alone', async () => {
  await collect();
  expect(isLeaving()).toBe(false);
});

test('a machine that ended takes its claim with it, and the event says why', async () => {
  world.cloud.kill(instance());
  await collect();
  expect(isLeaving()).toBe(true);
  expect(world.notes.at(-1)).toMatchObject({
    reason: 'InstanceEnded',
    message: expect.stringContaining('Instance i-1 is terminated: Server.InternalError') as string,
  });
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('a stopped machine is no machine: it goes, and its instance with it', async () => {
  instance().stopped = true;
  await collect();
  await world.gone();
  expect(world.leaks()).toEqual(noLeaks);
});

test('an instance that the cloud lists no longer is gone', async () => {
  world.cloud.made.length = 0;
  await collect();
  expect(world.notes.at(-1)?.message).toContain('The cloud no longer knows instance i-1');
});

test('a new instance may be missing from the list for a minute', async () => {
  await world.claim({}, 'web-2');
  await world.initialized('web-2');
  world.cloud.lateBy = minutes(10);
  await collect();
  expect(world.find('web-2')?.metadata.deletionTimestamp).toBeUndefined();
});

test('T16: a list that cannot be had judges nobody', async () => {
  world.cloud.kill(instance());
  world.cloud.findFailure = new Throttled('slower');
  await collect();
  expect(isLeaving()).toBe(false);
});

test('without its revision a claim is not judged by another one’s region', async () => {
  world.cloud.kill(instance());
  world.client.remove(controllerRevisions, { namespace: world.namespace, name: revisionName });
  await collect();
  expect(isLeaving()).toBe(false);
});

test('a claim whose provider id cannot be read is not judged', async () => {
  const claim = world.find();
  if (!claim) throw new Error('no claim');
  world.client.seed(nodeClaims, { ...claim, status: { ...claim.status, providerID: 'spoilt' } });
  await collect();
  expect(isLeaving()).toBe(false);
});

test('claims of another provider, and claims on their way, are not asked for', async () => {
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  await world.claim({ spec: { nodeClassRef, requirements: [] } }, 'theirs');
  await world.claim({}, 'young');
  world.cloud.kill(instance());
  await collect();
  await world.clock.forward(seconds(1));
  expect(world.find('theirs')?.metadata.deletionTimestamp).toBeUndefined();
  expect(world.find('young')?.metadata.deletionTimestamp).toBeUndefined();
  expect(world.client.peek(nodes, { name: world.nodes[0]?.metadata.name ?? '' })).toBeDefined();
});
