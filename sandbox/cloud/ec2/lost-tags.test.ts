/** T13, T19: a machine whose tags somebody took off is shown by no list of ours, and is there all the same. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { refusal } from '#controller/testing/refusals.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import { labels, tags } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { fault } from '../wire/faults.ts';
import type { Ec2Instance } from './instance.ts';
import { ClaimsOnEc2 } from './testing/claims-on-ec2.ts';

let world: ClaimsOnEc2;
/** Its name, and its Node's. */
let machine: string;
beforeEach(async () => {
  world = await ClaimsOnEc2.start(vi.stubEnv);
});
afterEach(() => world.stop());

/** A machine that has run for two minutes and has lost its tags since. */
async function untagged(): Promise<Ec2Instance> {
  world.ec2.instances.next({ terminating: seconds(90) });
  await world.claims.claim();
  await world.claims.until(() => world.claims.condition('InstanceRunning')?.status === 'True');
  await world.claims.clock.forward(minutes(2));
  const instance = world.ec2.instances.all[0]!;
  machine = instance.tags['Name'] ?? '';
  for (const key of Object.keys(instance.tags)) delete instance.tags[key];
  await world.claims.clock.forward(seconds(5)); // past what lists are kept for
  return instance;
}

const refused = fault({ code: 'UnauthorizedOperation', status: 403 });

test('is not taken for gone while it comes up, and has its tags again', async () => {
  const instance = await untagged();

  await world.claims.pass();

  expect(world.claims.find()?.metadata.deletionTimestamp).toBeUndefined();
  expect(world.claims.condition('InstanceRunning')?.status).toBe('True');
  expect(instance.tags[tags.claimUid]).toBe(world.claims.find()?.metadata.uid);
});

test('ends with its claim, which is kept until it has', async () => {
  const instance = await untagged();
  await world.claims.delete();
  const begin = world.claims.clock.now();

  await world.claims.gone();

  expect(world.claims.clock.now() - begin).toBeGreaterThanOrEqual(seconds(90));
  expect(instance.state).toBe('terminated');
});

test('keeps its Pods as long as their budget does, as any machine that runs', async () => {
  const instance = await untagged();
  const { claims } = world;
  const claim = claims.find()!;
  claims.client.seed(nodes, {
    metadata: { name: machine, labels: { [labels.claimUid]: claim.metadata.uid } },
    spec: { providerID: claim.status?.providerID ?? '' },
  });
  claims.bindPod('cart-0');
  const held = refusal(429, 'TooManyRequests', 'the budget allows none');
  claims.client.fail(({ subresource }) => subresource === 'eviction', held, 1000);
  await claims.delete();

  for (let passes = 0; passes < 5; passes++) {
    // oxlint-disable-next-line no-await-in-loop -- one pass after the other
    await claims.pass();
    // oxlint-disable-next-line no-await-in-loop
    await claims.clock.forward(seconds(5));
  }

  const pod = claims.client.peek(pods, { namespace: 'shop', name: 'cart-0' });
  expect(pod?.metadata.deletionTimestamp).toBeUndefined();
  expect(instance.state).toBe('running');
});

test('ends although its tags cannot be put back, where rights do not ask for them', async () => {
  const instance = await untagged();
  for (let times = 0; times < 200; times++) world.ec2.faults.next('CreateTags', refused);
  await world.claims.delete();
  await world.claims.gone();
  expect(instance.state).toBe('terminated');
});

test('is tagged before it is ended, where rights ask for the tags', async () => {
  const instance = await untagged();
  await world.claims.delete();
  await world.claims.pass();
  const order = world.ec2.calls.map(({ action }) => action);
  expect(order.indexOf('CreateTags', order.indexOf('RunInstances'))).toBeGreaterThan(0);
  expect(order.lastIndexOf('CreateTags')).toBeLessThan(order.indexOf('TerminateInstances'));
  expect(instance.tags[tags.cluster]).toBeDefined();
});
