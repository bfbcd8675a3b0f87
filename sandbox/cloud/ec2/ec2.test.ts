import {
  CreateTagsCommand,
  DescribeImagesCommand,
  DescribeInstanceStatusCommand,
  DescribeInstancesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeAvailabilityZonesCommand,
  EC2Client,
  type Instance,
  paginateDescribeInstanceTypeOfferings,
  paginateDescribeInstanceTypes,
  paginateDescribeInstances,
  RunInstancesCommand,
  type RunInstancesCommandInput,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { test as base, describe, expect } from 'vitest';

import { hours, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { delay, fault, lost, unheard } from '../wire/faults.ts';
import { outOfCapacity } from './capacity.ts';
import { Ec2 } from './ec2.ts';

/** The endpoint, the real SDK against it, and what powers on and off. */
class World {
  readonly clock = new FakeClock();
  readonly power: string[] = [];
  #addresses = 0;
  readonly ec2 = new Ec2({
    clock: this.clock,
    timings: {
      running: seconds(5),
      terminating: seconds(8),
      invisible: seconds(2),
      listed: hours(1),
    },
    hardware: {
      place: () => `127.64.0.${++this.#addresses}`,
      powerOn: ({ id }) => this.power.push(`on ${id}`),
      powerOff: ({ id }) => this.power.push(`off ${id}`),
    },
  });
  sdk!: EC2Client;

  async run(input: Partial<RunInstancesCommandInput> = {}): Promise<Instance> {
    const { Instances } = await this.sdk.send(
      new RunInstancesCommand({ ...this.launch, ...input }),
    );
    return Instances![0]!;
  }

  get launch(): RunInstancesCommandInput {
    return {
      MinCount: 1,
      MaxCount: 1,
      ImageId: this.ec2.account.images[0]!.id,
      InstanceType: 'm7i.large',
      SubnetId: this.ec2.account.subnets[0]!.id,
      SecurityGroupIds: [this.ec2.account.securityGroups[0]!.id],
      CpuOptions: { NestedVirtualization: 'enabled' },
      TagSpecifications: [
        { ResourceType: 'instance', Tags: [{ Key: 'claim', Value: 'a<b>&"c"' }] },
      ],
      UserData: Buffer.from('#cloud-config\n').toString('base64'),
      ClientToken: 'token-1',
    };
  }

  async states(): Promise<(string | undefined)[]> {
    const { Reservations } = await this.sdk.send(new DescribeInstancesCommand());
    return Reservations!.flatMap(({ Instances }) => Instances!.map(({ State }) => State?.Name));
  }
}

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => {
    const world = new World();
    await world.ec2.start();
    world.sdk = new EC2Client({
      region: 'eu-central-1',
      endpoint: world.ec2.url,
      credentials: { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' },
      maxAttempts: 1,
    });
    await use(world);
    world.sdk.destroy();
    await world.ec2.stop();
  },
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
    world.ec2.instances.get(id)!.impaired = true;

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

describe('lists', () => {
  test('come in pages and by filter', async ({ world }) => {
    for (let n = 0; n < 12; n++) {
      // oxlint-disable-next-line no-await-in-loop -- the order of launches is what pages are cut from
      await world.run({ ClientToken: `token-${n}` });
    }
    await world.clock.forward(seconds(5));
    const seen: (string | undefined)[] = [];
    const live = [{ Name: 'instance-state-name', Values: ['pending', 'running'] }];
    const pages = paginateDescribeInstances({ client: world.sdk, pageSize: 5 }, { Filters: live });
    for await (const { Reservations } of pages) {
      seen.push(
        ...Reservations!.flatMap(({ Instances }) => Instances!.map((one) => one.InstanceId)),
      );
    }
    expect(seen).toEqual(world.ec2.instances.all.map(({ id }) => id));
    expect(world.ec2.callsOf('DescribeInstances')).toHaveLength(3);
  });

  test('with a filter that EC2 does not know are refused', async ({ world }) => {
    const odd = new DescribeInstancesCommand({ Filters: [{ Name: 'colour', Values: ['red'] }] });
    await world.run();
    await world.clock.forward(seconds(5));
    await expect(world.sdk.send(odd)).rejects.toMatchObject({ name: 'InvalidParameterValue' });
  });

  test('show what the account has', async ({ world }) => {
    const { sdk } = world;
    const Filters = [{ Name: 'tag:karpenter.sh/discovery', Values: ['sandbox'] }];
    const { Subnets } = await sdk.send(new DescribeSubnetsCommand({ Filters }));
    expect(Subnets!.map((one) => [one.AvailabilityZone, one.AvailabilityZoneId])).toEqual([
      ['eu-central-1a', 'euc1-az2'],
      ['eu-central-1b', 'euc1-az3'],
      ['eu-central-1c', 'euc1-az1'],
    ]);
    const { SecurityGroups } = await sdk.send(new DescribeSecurityGroupsCommand({ Filters }));
    expect(SecurityGroups!.map((one) => one.GroupName)).toEqual(['unikraft-machines']);
    const images = new DescribeImagesCommand({
      Owners: ['123456789012'],
      Filters: [{ Name: 'name', Values: ['unikraft-platform-?'] }],
    });
    expect((await sdk.send(images)).Images).toMatchObject([
      { Name: 'unikraft-platform-1', Architecture: 'x86_64', RootDeviceName: '/dev/xvda' },
    ]);
    const zones = await sdk.send(new DescribeAvailabilityZonesCommand());
    expect(zones.AvailabilityZones!.map((one) => one.ZoneName)).toEqual(
      Subnets!.map((one) => one.AvailabilityZone),
    );
  });

  test('of sizes tell which can run guests and where they are sold', async ({ world }) => {
    const features = new Map<string, string[] | undefined>();
    for await (const { InstanceTypes } of paginateDescribeInstanceTypes(
      { client: world.sdk },
      {},
    )) {
      for (const one of InstanceTypes!) {
        features.set(one.InstanceType!, one.ProcessorInfo?.SupportedFeatures);
      }
    }
    expect(features.size).toBe(world.ec2.account.sizes.size);
    expect(features.get('m7i.large')).toEqual(['nested-virtualization']);
    expect(features.get('m5.large')).toEqual([]);

    const zonesOf = new Map<string, string[]>();
    const query = { LocationType: 'availability-zone' as const };
    for await (const page of paginateDescribeInstanceTypeOfferings({ client: world.sdk }, query)) {
      for (const { InstanceType, Location } of page.InstanceTypeOfferings!) {
        zonesOf.set(InstanceType!, [...(zonesOf.get(InstanceType!) ?? []), Location!]);
      }
    }
    expect(zonesOf.get('m7i.large')).toHaveLength(3);
    expect(zonesOf.get('m5zn.metal')).toEqual(['eu-central-1a', 'eu-central-1b']);
  });
});
