import {
  DescribeAvailabilityZonesCommand,
  DescribeImagesCommand,
  DescribeInstancesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  paginateDescribeInstances,
  paginateDescribeInstanceTypeOfferings,
  paginateDescribeInstanceTypes,
} from '@aws-sdk/client-ec2';
import { test as base, describe, expect } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { withWorld, type World } from './testing/world.ts';

const test = base.extend<{ world: World }>({
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern to know what a fixture needs
  world: async ({}, use) => withWorld(use),
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
      Filters: [{ Name: 'name', Values: ['unikraft-platform-*'] }],
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
