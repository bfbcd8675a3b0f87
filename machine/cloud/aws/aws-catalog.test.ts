import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

import { minutes } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { type MachineError, NodeClassError } from '../../errors.ts';
import { type Ec2, failure, failureOf, speakEc2 } from '../../testing/ec2.ts';
import { candidate, identity, nodeClass, spec } from '../../testing/machines.ts';
import { Wire } from '../../testing/wire.ts';
import { CloudFacts } from '../cloud-facts.ts';
import { AwsCloud } from './aws-cloud.ts';
import { Ec2ClientPool } from './clients.ts';

const signal = new AbortController().signal;
let wire: Wire;
let clock: FakeClock;
let facts: CloudFacts;
let standIns: MachineError[];
let cloud: AwsCloud;

const ec2 = (actions: Ec2): void => speakEc2(wire, actions);
const callsOf = (action: string) =>
  wire.calls.filter(({ parameters }) => parameters.get('Action') === action);

beforeAll(async () => {
  wire = await Wire.start();
});
afterAll(() => wire.stop());
beforeEach(() => {
  vi.stubEnv('AWS_ENDPOINT_URL_EC2', wire.url);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  wire.calls.length = 0;
  clock = new FakeClock();
  facts = new CloudFacts();
  standIns = [];
  cloud = restarted();
});

const restarted = (): AwsCloud =>
  new AwsCloud({
    clock,
    facts,
    clients: new Ec2ClientPool({ maxAttempts: 1 }),
    onStandIn: (why) => standIns.push(why),
  });

const type = (name: string, change: object = {}) => ({
  instanceType: name,
  bareMetal: false,
  supportedUsageClasses: ['on-demand', 'spot'],
  processorInfo: {
    supportedArchitectures: ['x86_64'],
    supportedFeatures: ['nested-virtualization'],
  },
  vCpuInfo: { defaultVCpus: 2 },
  memoryInfo: { sizeInMiB: 8192 },
  ...change,
});
const metalArm = {
  bareMetal: true,
  processorInfo: { supportedArchitectures: ['arm64'] },
};
const sold = (...pairs: [string, string][]) => ({
  instanceTypeOfferingSet: pairs.map(([instanceType, location]) => ({ instanceType, location })),
});

describe('sizes', () => {
  const catalogue: Ec2 = {
    DescribeInstanceTypes: () => ({
      instanceTypeSet: [
        type('m8i.large'),
        type('m6a.large', { processorInfo: { supportedArchitectures: ['x86_64'] } }),
        type('m7g.metal', metalArm),
        type('c5.metal', {
          bareMetal: true,
          processorInfo: { supportedArchitectures: ['x86_64'] },
        }),
        type('t9.spot', { supportedUsageClasses: ['spot'] }),
      ],
    }),
    DescribeInstanceTypeOfferings: () =>
      sold(
        ['m8i.large', 'eu-central-1a'],
        ['m8i.large', 'eu-central-1c'],
        ['c5.metal', 'eu-central-1b'],
        ['m6a.large', 'eu-central-1a'],
        ['m7g.metal', 'eu-central-1a'],
      ),
  };

  test('are those that can run guests of the image’s architecture, in the zones of the class', async () => {
    ec2(catalogue);
    const sizes = await cloud.sizes(nodeClass(), signal);

    expect(sizes.map(({ type: { name, metal, nested } }) => ({ name, metal, nested }))).toEqual([
      { name: 'm8i.large', metal: false, nested: true },
      { name: 'c5.metal', metal: true, nested: false },
    ]);
    expect(sizes[0]?.offerings).toEqual([
      {
        zone: 'eu-central-1a',
        zoneID: 'euc1-az2',
        price: expect.closeTo(0.12, 1) as number,
        priceDerived: true,
        available: true,
      },
    ]);
  });

  test.each([
    'InsufficientInstanceCapacity',
    'InsufficientFreeAddressesInSubnet',
    'VcpuLimitExceeded',
  ])('stay listed after %s, marked as unavailable for three minutes', async (code) => {
    ec2({ ...catalogue, RunInstances: () => failure(code, 400) });
    const request = { identity, nodeClass: nodeClass(), candidate, userData: '' };
    await failureOf(cloud.launch(request, signal));

    const [size] = await cloud.sizes(nodeClass(), signal);
    expect(size?.offerings).toMatchObject([{ zone: 'eu-central-1a', available: false }]);
    await clock.forward(minutes(3));
    const [later] = await cloud.sizes(nodeClass(), signal);
    expect(later?.offerings).toMatchObject([{ zone: 'eu-central-1a', available: true }]);
  });

  test('T32: are read again after five minutes; an outage then keeps the last answer', async () => {
    ec2(catalogue);
    await cloud.sizes(nodeClass(), signal);
    await cloud.sizes(nodeClass(), signal);
    expect(callsOf('DescribeInstanceTypes')).toHaveLength(1);

    ec2({});
    await clock.forward(minutes(5));
    expect(await cloud.sizes(nodeClass(), signal)).toHaveLength(2);
    expect(callsOf('DescribeInstanceTypes')).toHaveLength(2);
    expect(standIns).toEqual([]);
  });

  test.each<[string, Ec2]>([
    ['types', { DescribeInstanceTypes: () => ({ instanceTypeSet: [] }) }],
    ['offerings', { DescribeInstanceTypeOfferings: () => sold() }],
  ])('T32: are the last ones, or else those recorded, when it lists no %s', async (_, empty) => {
    ec2(catalogue);
    const before = await cloud.sizes(nodeClass(), signal);
    ec2({ ...catalogue, ...empty });
    await clock.forward(minutes(5));
    expect(await cloud.sizes(nodeClass(), signal)).toEqual(before);
    expect(standIns).toEqual([]);

    cloud = restarted();
    expect(await cloud.sizes(nodeClass(), signal)).not.toEqual([]);
    expect(standIns).toMatchObject([{ code: 'KPU336' }]);
  });

  test('cost what was set for them, from the next question on', async () => {
    ec2(catalogue);
    await cloud.sizes(nodeClass(), signal);
    facts.override(new Map([['aws.eu-central-1', new Map([['m8i.large', 0.07]])]]));
    const [size] = await cloud.sizes(nodeClass(), signal);
    expect(size?.offerings).toMatchObject([{ price: 0.07, priceDerived: false }]);
  });

  test('that no region is known to price have none, and are listed all the same', async () => {
    ec2({
      DescribeInstanceTypes: () => ({ instanceTypeSet: [type('z99.large')] }),
      DescribeInstanceTypeOfferings: () => sold(['z99.large', 'eu-central-1a']),
    });
    const [size] = await cloud.sizes(nodeClass(), signal);
    expect(size?.offerings).toMatchObject([{ price: undefined, priceDerived: false }]);
  });

  describe('when the cloud never said what it sells', () => {
    const refused: Ec2 = {
      DescribeInstanceTypes: () => failure('UnauthorizedOperation', 403),
      DescribeInstanceTypeOfferings: () => failure('UnauthorizedOperation', 403),
    };

    test('T32: are those that were recorded of the zones, and it is told why', async () => {
      ec2(refused);
      const sizes = await cloud.sizes(nodeClass(), signal);
      const large = sizes.find((size) => size.type.name === 'm8i.large');
      expect(large).toMatchObject({
        type: { family: 'm8i', vcpus: 2, memoryMiB: 8192, nested: true, metal: false },
        offerings: [
          { zone: 'eu-central-1a', zoneID: 'euc1-az2', available: true },
          { zone: 'eu-central-1b', zoneID: 'euc1-az3', available: true },
        ],
      });
      expect(sizes.every((size) => size.type.architecture === 'amd64')).toBe(true);
      expect(standIns).toMatchObject([{ code: 'KPU311' }]);
    });

    test('are the cloud’s own again as soon as it says', async () => {
      ec2(refused);
      await cloud.sizes(nodeClass(), signal);
      ec2(catalogue);
      await clock.forward(minutes(5));
      expect(await cloud.sizes(nodeClass(), signal)).toHaveLength(2);
    });

    test('are nothing in a region of which nothing was recorded: the failure is told', async () => {
      ec2(refused);
      const paris = nodeClass();
      const aws = { ...paris.spec.aws!, region: 'eu-west-3' };
      const there = { ...paris, spec: { ...paris.spec, aws } };
      expect(await failureOf(cloud.sizes(there, signal))).toMatchObject({ code: 'KPU311' });
      expect(standIns).toEqual([]);
    });
  });
});

describe('what a class selects', () => {
  const image = (id: string, day: string, architecture = 'x86_64') => ({
    imageId: id,
    name: `unikraft-platform-${id}`,
    creationDate: `2026-01-${day}T00:00:00.000Z`,
    architecture,
    rootDeviceName: '/dev/sda1',
  });
  const subnet = (id: string, zone: string, vpcId = 'vpc-1') => ({
    subnetId: id,
    availabilityZone: zone,
    availabilityZoneId: `id-of-${zone}`,
    vpcId,
  });
  const account: Ec2 = {
    DescribeImages: () => ({ imagesSet: [image('ami-1', '02'), image('ami-3', '09')] }),
    DescribeSubnets: () => ({ subnetSet: [subnet('subnet-b', 'b'), subnet('subnet-a', 'a')] }),
    DescribeSecurityGroups: () => ({ securityGroupInfo: [{ groupId: 'sg-1', vpcId: 'vpc-1' }] }),
  };
  const resolve = async () => cloud.resolve(spec, signal);

  test('is the newest image, and subnets and groups in a steady order', async () => {
    ec2(account);

    expect(await resolve()).toEqual({
      image: {
        id: 'ami-3',
        name: 'unikraft-platform-ami-3',
        architecture: 'amd64',
        rootDeviceName: '/dev/sda1',
      },
      subnets: [
        { id: 'subnet-a', zone: 'a', zoneID: 'id-of-a' },
        { id: 'subnet-b', zone: 'b', zoneID: 'id-of-b' },
      ],
      securityGroups: ['sg-1'],
    });
    expect(Object.fromEntries(callsOf('DescribeImages')[0]?.parameters ?? [])).toMatchObject({
      'Owner.1': '123456789012',
      'Filter.2.Name': 'name',
      'Filter.2.Value.1': 'unikraft-platform-*',
    });
    expect(Object.fromEntries(callsOf('DescribeSubnets')[0]?.parameters ?? [])).toMatchObject({
      'Filter.2.Name': 'tag:karpenter.sh/discovery',
      'Filter.2.Value.1': 'demo',
    });
  });

  const nothing: [string, Ec2, object][] = [
    [
      'no image',
      { DescribeImages: () => ({ imagesSet: [] }) },
      {
        code: 'KPU220',
        condition: 'ImageReady',
        message: expect.stringContaining('matches name unikraft-platform-*, owner 123456789012;'),
      },
    ],
    [
      'images of two architectures',
      { DescribeImages: () => ({ imagesSet: [image('a', '02'), image('b', '03', 'arm64')] }) },
      { code: 'KPU221', condition: 'ImageReady' },
    ],
    [
      'no subnet',
      { DescribeSubnets: () => ({ subnetSet: [] }) },
      {
        code: 'KPU230',
        condition: 'PlacementReady',
        canPass: false,
        message:
          'No subnet matches tags karpenter.sh/discovery=demo; tag the subnets, or correct spec.aws.subnetSelectorTerms',
      },
    ],
    [
      'no security group',
      { DescribeSecurityGroups: () => ({ securityGroupInfo: [] }) },
      { code: 'KPU231', condition: 'PlacementReady' },
    ],
    [
      'subnets of another VPC',
      { DescribeSubnets: () => ({ subnetSet: [subnet('subnet-z', 'a', 'vpc-2')] }) },
      { code: 'KPU232', condition: 'PlacementReady', reason: 'SeveralNetworks' },
    ],
    [
      'nothing, for want of rights',
      { DescribeSubnets: () => failure('UnauthorizedOperation', 403) },
      { code: 'KPU210', condition: 'CredentialsReady', canPass: true },
    ],
  ];
  test.each(nothing)(
    'can be %s, which says which part of the class',
    async (_case, change, told) => {
      ec2({ ...account, ...change });

      const error = await failureOf(resolve());

      expect(error).toBeInstanceOf(NodeClassError);
      expect(error).toMatchObject(told);
    },
  );

  test('is not judged while the cloud is down', async () => {
    ec2({ ...account, DescribeImages: () => failure('Unavailable', 503) });

    expect(await failureOf(resolve())).not.toBeInstanceOf(NodeClassError);
  });
});
