/** Two regions behind one port: each knows its own account alone. */
import {
  DeleteVolumeCommand,
  DescribeInstancesCommand,
  DescribeSubnetsCommand,
  DescribeVolumesCommand,
  EC2Client,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { test as base, expect } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
});

/** An SDK of that region. */
function sdkIn({ ec2 }: World, region: string): EC2Client {
  const credentials = { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' };
  return new EC2Client({ region, endpoint: ec2.url, credentials, maxAttempts: 1 });
}

/** What a launch in the other region names. */
function launchThere({ ec2, launch }: World) {
  const { images, subnets, securityGroups } = ec2.regions[1]!.account;
  return {
    ...launch,
    ImageId: images[0]!.id,
    SubnetId: subnets[0]!.id,
    SecurityGroupIds: [securityGroups[0]!.id],
  };
}

test('an instance is known, and can be ended, in its own region alone', async ({ world }) => {
  const there = sdkIn(world, 'eu-west-1');
  const { Instances } = await there.send(new RunInstancesCommand(launchThere(world)));
  const { InstanceId = '', Placement } = Instances![0]!;
  expect(Placement?.AvailabilityZone).toBe('eu-west-1a');
  await world.clock.forward(seconds(6));

  expect(await world.states()).toEqual([]);
  await expect(
    world.sdk.send(new TerminateInstancesCommand({ InstanceIds: [InstanceId] })),
  ).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' });
  expect(world.ec2.everywhere.map(({ state }) => state)).toEqual(['running']);

  await there.send(new TerminateInstancesCommand({ InstanceIds: [InstanceId] }));
  await world.clock.forward(seconds(10));
  expect(world.ec2.everywhere.map(({ state }) => state)).toEqual(['terminated']);
  there.destroy();
});

test('a token that was used in one region starts another instance in the other', async ({
  world,
}) => {
  const there = sdkIn(world, 'eu-west-1');
  await world.run();
  await there.send(new RunInstancesCommand(launchThere(world)));
  expect(world.ec2.regions.map(({ instances }) => instances.all.length)).toEqual([1, 1]);
  there.destroy();
});

test('subnets, images, groups and disks of one are nothing in the other', async ({ world }) => {
  const there = sdkIn(world, 'eu-west-1');
  const { Subnets } = await there.send(new DescribeSubnetsCommand());
  const zones = Subnets!.map(({ AvailabilityZone }) => AvailabilityZone);
  expect(zones).toEqual(['eu-west-1a', 'eu-west-1b', 'eu-west-1c']);
  const named = launchThere(world);
  for (const [name, wrong] of [
    ['InvalidAMIID.NotFound', { ImageId: world.launch.ImageId }],
    ['InvalidSubnetID.NotFound', { SubnetId: world.launch.SubnetId }],
    ['InvalidGroup.NotFound', { SecurityGroupIds: world.launch.SecurityGroupIds }],
  ] as const)
    await expect(there.send(new RunInstancesCommand({ ...named, ...wrong }))).rejects.toMatchObject(
      { name },
    );

  await world.run();
  const { Volumes } = await there.send(new DescribeVolumesCommand());
  expect(Volumes).toEqual([]);
  const [disk] = world.ec2.instances.volumes.all;
  await expect(there.send(new DeleteVolumeCommand({ VolumeId: disk!.id }))).rejects.toMatchObject({
    name: 'InvalidVolume.NotFound',
  });
  there.destroy();
});

test('a region that the account has not refuses every call', async ({ world }) => {
  const nowhere = sdkIn(world, 'us-east-1');
  const call = nowhere.send(new DescribeInstancesCommand());
  await expect(call).rejects.toMatchObject({ name: 'AuthFailure' });
  nowhere.destroy();
});
