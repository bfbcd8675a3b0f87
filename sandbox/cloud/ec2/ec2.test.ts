import {
  CreateTagsCommand,
  DescribeInstancesCommand,
  DescribeInstanceStatusCommand,
  type RunInstancesCommandInput,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { test as base, describe, expect } from 'vitest';

import { hours, seconds } from '#schemas/time/clock.ts';

import { delay, fault, lost, unheard } from '../wire/faults.ts';
import { outOfCapacity } from './capacity.ts';
import { withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
});

describe('an instance', () => {
  test('is made as asked, runs, and ends; terminated ones stay listed for a while', async ({
    world,
  }) => {
    const { ec2, clock, sdk, power } = world;
    const made = await world.run();
    expect(made).toMatchObject({
      State: { Code: 0, Name: 'pending' },
      InstanceType: 'm7i.large',
      PrivateIpAddress: '127.64.0.1',
      Placement: { AvailabilityZone: 'eu-central-1a' },
      CpuOptions: { NestedVirtualization: 'enabled' },
      Tags: [{ Key: 'claim', Value: 'a<b>&"c"' }],
      ClientToken: 'token-1',
      LaunchTime: new Date('2026-01-01T00:00:00Z'),
    });
    expect(ec2.instances.get(made.InstanceId!)?.launch.userData).toBe('#cloud-config\n');

    await clock.forward(seconds(5));
    expect(await world.states()).toEqual(['running']);
    expect(power).toEqual([`on ${made.InstanceId}`]);

    const ended = await sdk.send(
      new TerminateInstancesCommand({ InstanceIds: [made.InstanceId!] }),
    );
    expect(ended.TerminatingInstances).toMatchObject([
      { CurrentState: { Name: 'shutting-down' }, PreviousState: { Name: 'running' } },
    ]);
    expect(power).toEqual([`on ${made.InstanceId}`, `off ${made.InstanceId}`]);

    await clock.forward(seconds(8));
    await sdk.send(new TerminateInstancesCommand({ InstanceIds: [made.InstanceId!] })); // harmless again
    expect(await world.states()).toEqual(['terminated']);
    await clock.forward(hours(1));
    expect(await world.states()).toEqual([]);
  });

  test('gets a public address on an interface that asks for one, in the zone of its subnet', async ({
    world,
  }) => {
    const { subnets, securityGroups } = world.ec2.account;
    const external = {
      DeviceIndex: 0,
      SubnetId: subnets[2]!.id,
      Groups: [securityGroups[0]!.id],
      AssociatePublicIpAddress: true,
    };
    const input = {
      SubnetId: undefined,
      SecurityGroupIds: undefined,
      NetworkInterfaces: [external],
    };
    const made = await world.run(input);
    expect(made).toMatchObject({
      PublicIpAddress: made.PrivateIpAddress,
      Placement: { AvailabilityZone: 'eu-central-1c' },
      SecurityGroups: [{ GroupId: securityGroups[0]!.id }],
    });
    expect((await world.run(input)).InstanceId).toBe(made.InstanceId);
  });

  test('is not known to Describe at first', async ({ world }) => {
    const { InstanceId } = await world.run();
    expect(await world.states()).toEqual([]);
    const byId = new DescribeInstancesCommand({ InstanceIds: [InstanceId!] });
    await expect(world.sdk.send(byId)).rejects.toMatchObject({
      name: 'InvalidInstanceID.NotFound',
    });

    await world.clock.forward(seconds(2));
    expect(await world.states()).toEqual(['pending']);
  });

  test('that fails to start tells why', async ({ world }) => {
    const reason = {
      code: 'Client.InternalError',
      message: 'Client.InternalError: key is disabled',
    };
    world.ec2.instances.next({ fails: reason });
    await world.run();
    await world.clock.forward(seconds(5));

    const { Reservations } = await world.sdk.send(new DescribeInstancesCommand());
    expect(Reservations![0]!.Instances![0]).toMatchObject({
      State: { Name: 'terminated' },
      StateReason: { Code: reason.code, Message: reason.message },
    });
    expect(world.power).toEqual([]);
  });

  test('leaves the disk that nobody asked to delete', async ({ world }) => {
    const kept = await world.run();
    const tidy = await world.run({
      ClientToken: 'token-2',
      BlockDeviceMappings: [{ DeviceName: '/dev/xvda', Ebs: { DeleteOnTermination: true } }],
    });
    const ids = [kept.InstanceId!, tidy.InstanceId!];
    await world.sdk.send(new TerminateInstancesCommand({ InstanceIds: ids }));
    await world.clock.forward(seconds(8));

    expect(world.ec2.instances.leftVolumes).toHaveLength(1);
  });

  test('can be stopped by the cloud, tagged, and be impaired', async ({ world }) => {
    const { InstanceId } = await world.run();
    await world.clock.forward(seconds(5));
    const id = InstanceId!;
    await world.sdk.send(
      new CreateTagsCommand({ Resources: [id], Tags: [{ Key: 'late', Value: '1' }] }),
    );
    world.ec2.instances.get(id)!.impairedSince = new Date();

    const { InstanceStatuses } = await world.sdk.send(new DescribeInstanceStatusCommand());
    expect(InstanceStatuses).toMatchObject([
      { InstanceId, InstanceStatus: { Status: 'impaired' } },
    ]);
    world.ec2.instances.stop(id);
    const tagged = new DescribeInstancesCommand({ Filters: [{ Name: 'tag:late', Values: ['?'] }] });
    const { Reservations } = await world.sdk.send(tagged);
    expect(Reservations![0]!.Instances![0]!.State!.Name).toBe('stopped');
  });
});

describe('a client token', () => {
  test('gives the same instance again, as long as all parameters are the same', async ({
    world,
  }) => {
    const first = await world.run();
    const again = await world.run();
    expect(again.InstanceId).toBe(first.InstanceId);
    await expect(world.run({ InstanceType: 'm7i.xlarge' })).rejects.toMatchObject({
      name: 'IdempotentParameterMismatch',
    });
    expect(world.ec2.instances.all).toHaveLength(1);
  });

  test('counts within one zone only', async ({ world }) => {
    const first = await world.run();
    const other = await world.run({ SubnetId: world.ec2.account.subnets[1]!.id });
    expect(other.InstanceId).not.toBe(first.InstanceId);
  });

  test('is spent once its instance is terminated', async ({ world }) => {
    const { InstanceId } = await world.run();
    await world.sdk.send(new TerminateInstancesCommand({ InstanceIds: [InstanceId!] }));
    await world.clock.forward(seconds(8));
    await expect(world.run()).rejects.toMatchObject({ name: 'IdempotentInstanceTerminated' });
  });
});

describe('a launch is refused', () => {
  test.for<[string, Partial<RunInstancesCommandInput>]>([
    ['InvalidAMIID.NotFound', { ImageId: 'ami-0123456789abcdef0' }],
    ['InvalidAMIID.Malformed', { ImageId: 'unikraft' }],
    ['InvalidSubnetID.NotFound', { SubnetId: 'subnet-1' }],
    ['InvalidGroup.NotFound', { SecurityGroupIds: ['sg-1'] }],
    ['InvalidParameterValue', { InstanceType: 'm99.large' as 'm7i.large' }],
    ['InvalidParameterValue', { InstanceType: 'm7g.large', CpuOptions: {} }], // an arm64 size, an x86_64 image
    ['UnsupportedOperation', { InstanceType: 'm5.large' }], // no nested virtualisation
    [
      'Unsupported',
      { InstanceType: 'm5zn.metal', CpuOptions: {}, SubnetId: 'subnet-0a000000000000003' },
    ],
    ['InvalidParameterValue', { UserData: Buffer.alloc(16_385).toString('base64') }],
    [
      'InvalidParameterValue',
      { TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'aws:x', Value: '' }] }] },
    ],
    ['DryRunOperation', { DryRun: true }],
  ])('%s', async ([name, input], { world }) => {
    await expect(world.run(input)).rejects.toMatchObject({ name });
    expect(world.ec2.instances.all).toEqual([]);
  });

  test('when a subnet is full', async ({ world }) => {
    world.ec2.account.subnets[0]!.freeAddresses = 0;
    await expect(world.run()).rejects.toMatchObject({ name: 'InsufficientFreeAddressesInSubnet' });
  });
});

describe('trouble that was scripted', () => {
  test('no capacity for one size in one zone, until it is back', async ({ world }) => {
    const { ec2 } = world;
    const back = ec2.faults.next(
      'RunInstances',
      outOfCapacity(ec2.account, { type: 'm7i.large', zone: 'eu-central-1a' }),
    );
    const refused = { name: 'InsufficientInstanceCapacity', $metadata: { httpStatusCode: 500 } };
    await expect(world.run()).rejects.toMatchObject(refused);
    await expect(world.run()).rejects.toMatchObject(refused);
    await world.run({ SubnetId: ec2.account.subnets[1]!.id });
    await world.run({ InstanceType: 'm7i.xlarge', ClientToken: 'token-2' });
    back();
    await world.run();
  });

  test('an answer is lost after the call acted, and the same token finds the instance', async ({
    world,
  }) => {
    world.ec2.faults.next('RunInstances', lost());
    await expect(world.run()).rejects.toThrow(/hang up|ECONNRESET/);
    expect(world.ec2.instances.all).toHaveLength(1);

    const again = await world.run();
    expect(again.InstanceId).toBe(world.ec2.instances.all[0]!.id);
    expect(world.ec2.callsOf('RunInstances').map(({ outcome }) => outcome)).toEqual(['lost', 'ok']);
  });

  test('a call is never heard', async ({ world }) => {
    world.ec2.faults.next('RunInstances', unheard());
    await expect(world.run()).rejects.toThrow(/hang up|ECONNRESET/);
    expect(world.ec2.instances.all).toEqual([]);
  });

  test('an answer is late', async ({ world }) => {
    world.ec2.faults.next('RunInstances', delay(seconds(30)));
    const running = world.run();
    await expect.poll(() => world.ec2.instances.all.length).toBe(1);
    await world.clock.forward(seconds(30));
    expect((await running).InstanceId).toBe(world.ec2.instances.all[0]!.id);
  });

  test('a number of times, for some calls only', async ({ world }) => {
    const only = { code: 'RequestLimitExceeded', status: 503, times: 2 };
    world.ec2.faults.next(
      'RunInstances',
      fault({ ...only, when: (call) => call.text('InstanceType') === 'm7i.large' }),
    );
    await world.run({ InstanceType: 'm7i.xlarge', ClientToken: 'token-2' });
    await expect(world.run()).rejects.toMatchObject({ name: 'RequestLimitExceeded' });
    await expect(world.run()).rejects.toMatchObject({ name: 'RequestLimitExceeded' });
    await world.run();
  });
});
