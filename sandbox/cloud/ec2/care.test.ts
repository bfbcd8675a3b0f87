import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Collector } from '#controller/nodeclaim/garbagecollection/collector.ts';
import { Interruption } from '#controller/nodeclaim/garbagecollection/interruption.ts';
import { Revisions } from '#controller/nodeclass/revisions.ts';
import { Metrics } from '#kube/metrics.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { tags } from '#schemas/names.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import { fault } from '../wire/faults.ts';
import type { Ec2Instance } from './instance.ts';
import { ClaimsOnEc2 } from './testing/claims-on-ec2.ts';

const signal = new AbortController().signal;
let world: ClaimsOnEc2;
let collect: () => Promise<void>;
let lookAfter: () => Promise<void>;
beforeEach(async () => {
  world = await ClaimsOnEc2.start(vi.stubEnv);
  const { context } = world.claims;
  const clouds = { for: async () => world.cloud, dns: async () => world.claims.dns };
  const revisions = new Revisions(context);
  const collector = new Collector(context, clouds, revisions);
  const interruption = new Interruption(context, clouds, revisions, new Metrics());
  collect = async () => collector.collect(signal);
  lookAfter = async () => interruption.look(signal);
});
afterEach(() => world.stop());

/** Machines that have run for two minutes, by claim. */
async function machines(count: number): Promise<Ec2Instance[]> {
  const names = Array.from({ length: count }, (_, index) => `web-${index + 1}`);
  await Promise.all(names.map(async (name) => world.claims.claim({}, name)));
  await world.claims.until(() =>
    names.every((name) => world.claims.condition('InstanceRunning', name)?.status === 'True'),
  );
  await world.claims.clock.forward(minutes(2));
  return [...world.ec2.instances.live];
}
const isLeaving = (name = 'web-1') =>
  world.claims.find(name)?.metadata.deletionTimestamp !== undefined;
const leaving = () =>
  world.claims.client.all(nodeClaims).filter((claim) => isLeaving(claim.metadata.name));
const events = () => world.claims.notes.map(({ reason }) => reason);
const ago = (time: number) => new Date(Date.parse(world.claims.clock.stamp()) - time);

test('T19: tags that somebody took off are put back, and the machine stays', async () => {
  const [instance] = await machines(1);
  const before = { ...instance!.tags };
  for (const key of Object.keys(instance!.tags)) delete instance!.tags[key];

  await collect();

  expect(instance!.tags).toEqual(before);
  expect(before).toMatchObject({ [tags.claim]: 'web-1', [tags.nodeClass]: 'default' });
  expect(isLeaving()).toBe(false);
  expect(world.claims.notes.at(-1)).toMatchObject({
    reason: 'TagsRestored',
    message: expect.stringMatching(/had lost .*nodeclaim-uid.*\(KPU339\)/) as string,
  });
  await collect();
  expect(world.ec2.callsOf('CreateTags')).toHaveLength(1);
});

test('T19: a tag that was overwritten is ours again, one of somebody else is left alone', async () => {
  const [instance] = await machines(1);
  Object.assign(instance!.tags, { [tags.claimUid]: 'other', team: 'shop' });
  await collect();
  expect(instance!.tags).toMatchObject({
    [tags.claimUid]: world.claims.find()?.metadata.uid,
    team: 'shop',
  });
});

test('T19: a machine whose tags cannot be put back is kept all the same', async () => {
  const [instance] = await machines(1);
  delete instance!.tags[tags.claim];
  world.ec2.faults.next('CreateTags', fault({ code: 'UnauthorizedOperation', status: 403 }));
  await collect();
  expect(isLeaving()).toBe(false);
  await collect();
  expect(instance!.tags[tags.claim]).toBe('web-1');
});

test('an instance that no list shows, by tag or id, is gone', async () => {
  const [instance] = await machines(1);
  world.ec2.instances.terminate(instance!.id);
  await world.claims.clock.forward(minutes(61));
  await collect();
  expect(isLeaving()).toBe(true);
  expect(world.claims.notes.at(-1)?.message).toContain('The cloud no longer knows instance');
});

test('an instance that is scheduled for retirement is replaced at once, and the claim says why', async () => {
  const [instance] = await machines(2);
  instance!.events = [
    {
      code: 'instance-retirement',
      description: 'The host is failing',
      notBefore: '2026-12-24T00:00:00.000Z',
    },
  ];
  await lookAfter();

  expect(leaving()).toHaveLength(1);
  const [claim] = leaving();
  expect(world.claims.condition('Interrupted', claim?.metadata.name)).toMatchObject({
    status: 'True',
    message: `Instance ${instance!.id}: EC2 has scheduled instance-retirement, not before 2026-12-24T00:00:00.000Z (The host is failing); the claim ends and its Pods find another machine (KPU338)`,
  });
  expect(events()).toContain('Interrupted');
});

test.each(['[Completed] The host is failing', '[Canceled] The host is failing'])(
  'an event that is over replaces nothing: %s',
  async (description) => {
    const [instance] = await machines(1);
    instance!.events = [
      { code: 'system-reboot', description, notBefore: '2026-12-24T00:00:00.000Z' },
    ];
    await lookAfter();
    expect(leaving()).toEqual([]);
  },
);

test('a status check that fails replaces the machine after two minutes, not before', async () => {
  const [instance] = await machines(1);
  instance!.impairedSince = ago(seconds(119));
  await lookAfter();
  expect(leaving()).toEqual([]);

  instance!.impairedSince = ago(seconds(125));
  await lookAfter();
  expect(leaving()).toHaveLength(1);
  expect(world.claims.condition('Interrupted')?.message).toContain(
    'its instance status check fails',
  );
});

test('when checks fail on more than a fifth of the machines it is the cloud, and none is replaced', async () => {
  const all = await machines(6);
  for (const instance of all.slice(0, 3)) instance.impairedSince = ago(minutes(5));
  await lookAfter();
  expect(leaving()).toEqual([]);

  all[2]!.impairedSince = undefined;
  await lookAfter();
  expect(leaving()).toHaveLength(2);
});

test('nobody is judged while the status cannot be read', async () => {
  const [instance] = await machines(1);
  instance!.impairedSince = ago(minutes(5));
  world.ec2.faults.next('DescribeInstanceStatus', fault({ code: 'Unavailable', status: 503 }));
  await lookAfter();
  expect(leaving()).toEqual([]);
});
