/** Volumes and network interfaces on EC2: what of them is seen, what goes, and what is believed of a part of a list. */
import { test as base, expect } from 'vitest';

import { Ec2Parts } from '#machine/cloud/aws/parts.ts';
import { MachineError } from '#machine/errors.ts';
import { tags } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { seconds } from '#schemas/time/clock.ts';

import { fault } from '../wire/faults.ts';
import { withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
});

const { signal } = new AbortController();
const nodeClass = {} as ResolvedNodeClass;
const partsIn = ({ sdk }: World) =>
  new Ec2Parts(() => ({ clients: { read: sdk, write: sdk }, region: 'eu-central-1' }));
const tagged = (cluster: string, claim = 'uid-1') =>
  (['instance', 'volume', 'network-interface'] as const).map((ResourceType) => ({
    ResourceType,
    Tags: [
      { Key: tags.cluster, Value: cluster },
      { Key: tags.claimUid, Value: claim },
    ],
  }));
const failure = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );

/** An instance of the cluster that has ended, and left what it had. */
async function ended(world: World, cluster = 'ours', claim = 'uid-1'): Promise<void> {
  const { InstanceId = '' } = await world.run({
    TagSpecifications: tagged(cluster, claim),
    ClientToken: `${cluster} ${claim}`,
  });
  await world.clock.forward(seconds(6));
  for (const one of world.ec2.instances.interfaces.all) one.deletedOnTermination = false;
  world.ec2.instances.terminate(InstanceId);
  await world.clock.forward(seconds(10));
}

test('what an instance has is shown as not free, and EC2 refuses to delete it', async ({
  world,
}) => {
  const { InstanceId } = await world.run({ TagSpecifications: tagged('ours') });
  const parts = partsIn(world);
  const listed = await parts.list(nodeClass, 'ours', signal);
  expect(listed).toMatchObject([
    { kind: 'volume', claimUid: 'uid-1', state: 'in-use', isFree: false, instance: InstanceId },
    { kind: 'interface', claimUid: 'uid-1', state: 'in-use', isFree: false, instance: InstanceId },
  ]);
  for (const part of listed) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await failure(parts.delete(nodeClass, part, signal))).toBeInstanceOf(MachineError);
  }
  expect(await parts.list(nodeClass, 'ours', signal)).toEqual(listed);
});

test('T20: a disk and an interface that outlived their instance are free, and go once', async ({
  world,
}) => {
  await ended(world);
  const parts = partsIn(world);
  const left = await parts.list(nodeClass, 'ours', signal);
  expect(left.map(({ kind, isFree }) => [kind, isFree])).toEqual([
    ['volume', true],
    ['interface', true],
  ]);
  await Promise.all(left.map(async (part) => parts.delete(nodeClass, part, signal)));
  expect(await parts.list(nodeClass, 'ours', signal)).toEqual([]);
  await Promise.all(left.map(async (part) => parts.delete(nodeClass, part, signal))); // gone already
});

test('T17: those of another cluster are not seen, also where its uid is a pattern', async ({
  world,
}) => {
  await ended(world, 'theirs');
  expect(await partsIn(world).list(nodeClass, 'ours', signal)).toEqual([]);
  expect(await partsIn(world).list(nodeClass, '*', signal)).toEqual([]);
});

test.for(['DescribeVolumes', 'DescribeNetworkInterfaces'])(
  'a list of which %s fails on its second page is no list',
  async (action) => {
    await withWorld(async (world) => {
      await ended(world);
      const { volumes, interfaces } = world.ec2.instances;
      for (let index = 0; index < 600; index++) {
        const common = { zone: 'eu-central-1a', instance: undefined };
        const own = { ...common, tags: { [tags.cluster]: 'ours', [tags.claimUid]: 'uid-1' } };
        const disk = {
          device: '/dev/xvda',
          deletedOnTermination: true,
          createdAt: '2026-01-01T00:00:00Z',
        };
        volumes.add({ ...own, ...disk });
        interfaces.add({ ...own, subnet: 'subnet-1' });
      }
      expect(await partsIn(world).list(nodeClass, 'ours', signal)).toHaveLength(1202);
      const isSecond = (call: { text: (name: string) => string | undefined }): boolean =>
        call.text('NextToken') !== undefined;
      world.ec2.faults.next(action, fault({ code: 'InternalError', status: 500, when: isSecond }));
      const failed = await failure(partsIn(world).list(nodeClass, 'ours', signal));
      expect(failed).toBeInstanceOf(MachineError);
      expect((failed as MachineError).message).toMatch(/^Listing .* in eu-central-1: /);
    });
  },
);
