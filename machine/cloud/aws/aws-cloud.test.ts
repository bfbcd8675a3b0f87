import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

import { minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import {
  AttemptSpent,
  InsufficientCapacity,
  MachineError,
  NodeClassError,
  OutcomeUnknown,
  TerminationRefused,
  Throttled,
  Unauthorized,
} from '../../errors.ts';
import { type Ec2, failure, failureOf, speakEc2 } from '../../testing/ec2.ts';
import { candidate, identity, nodeClass } from '../../testing/machines.ts';
import { Wire } from '../../testing/wire.ts';
import { AwsCloud } from './aws-cloud.ts';
import { Ec2ClientPool } from './clients.ts';

const signal = new AbortController().signal;
let wire: Wire;
let clock: FakeClock;
let cloud: AwsCloud;

const ec2 = (actions: Ec2): void => speakEc2(wire, actions);
const running = (id: string, state = 'running', tags: Record<string, string> = {}) => ({
  instanceId: id,
  imageId: 'ami-1',
  instanceType: 'm8i.large',
  instanceState: { name: state },
  placement: { availabilityZone: 'eu-central-1a' },
  privateIpAddress: '10.0.0.7',
  launchTime: '2026-01-01T00:00:00.000Z',
  tagSet: Object.entries(tags).map(([key, value]) => ({ key, value })),
});
const reservations = (...instances: object[]) => ({
  reservationSet: [{ instancesSet: instances }],
});
const request = { identity, nodeClass: nodeClass(), candidate, userData: '#cloud-config\n' };
const launch = async (change: Partial<typeof request> = {}) =>
  cloud.launch({ ...request, ...change }, signal);

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
  cloud = new AwsCloud({ clock, clients: new Ec2ClientPool({ maxAttempts: 1 }) });
});

describe('a launch', () => {
  test('asks for one instance, on demand, with everything that a machine needs', async () => {
    ec2({ RunInstances: () => ({ instancesSet: [running('i-1', 'pending')] }) });

    const instance = await launch();

    expect(instance).toMatchObject({ id: 'i-1', state: 'pending', region: 'eu-central-1' });
    expect(Object.fromEntries(wire.calls[0]?.parameters ?? [])).toMatchObject({
      MinCount: '1',
      MaxCount: '1',
      ImageId: 'ami-1',
      InstanceType: 'm8i.large',
      SubnetId: 'subnet-a',
      'SecurityGroupId.1': 'sg-1',
      'CpuOptions.NestedVirtualization': 'enabled',
      'MetadataOptions.HttpTokens': 'required',
      'MetadataOptions.HttpPutResponseHopLimit': '1',
      'BlockDeviceMapping.1.DeviceName': '/dev/xvda',
      'BlockDeviceMapping.1.Ebs.DeleteOnTermination': 'true',
      'BlockDeviceMapping.1.Ebs.Encrypted': 'true',
      UserData: Buffer.from('#cloud-config\n').toString('base64'),
    });
    expect(wire.calls[0]?.parameters.has('InstanceMarketOptions.MarketType')).toBe(false);
  });

  test('repeats its token for the same attempt only', async () => {
    ec2({ RunInstances: () => ({ instancesSet: [running('i-1')] }) });
    await launch();
    await launch();
    await launch({ candidate: { ...candidate, attempt: 2 } });
    await launch({ candidate: { ...candidate, zone: 'eu-central-1b', subnet: 'subnet-b' } });

    const tokens = wire.calls.map(({ parameters }) => parameters.get('ClientToken'));
    expect(tokens[0]).toMatch(/^[a-z2-7]{52}$/);
    expect(tokens[1]).toBe(tokens[0]);
    expect(new Set(tokens).size).toBe(3);
  });

  test('without capacity is asked for once, and the size is unavailable there for three minutes', async () => {
    cloud = new AwsCloud({ clock, clients: new Ec2ClientPool() });
    ec2({ RunInstances: () => failure('InsufficientInstanceCapacity', 500) });

    const error = await failureOf(launch());

    expect(error).toBeInstanceOf(InsufficientCapacity);
    expect(error).toMatchObject({ code: 'KPU310', next: 'try-another' });
    expect(error.message).toBe(
      'Starting m8i.large in eu-central-1a: InsufficientInstanceCapacity: told InsufficientInstanceCapacity (request r-9)',
    );
    expect(wire.calls).toHaveLength(1);
    const here = { region: 'eu-central-1', instanceType: 'm8i.large', zone: 'eu-central-1a' };
    expect(cloud.unavailable.isAvailable(here)).toBe(false);
    await clock.forward(minutes(3));
    expect(cloud.unavailable.isAvailable(here)).toBe(true);
  });

  test('over a quota says so', async () => {
    ec2({ RunInstances: () => failure('VcpuLimitExceeded', 400) });

    expect(await failureOf(launch())).toMatchObject({ code: 'KPU316', next: 'try-another' });
    expect(cloud.unavailable.list()).toMatchObject([
      { kind: 'quota', what: 'standard vCPU quota of eu-central-1' },
    ]);
  });

  test.each([
    ['UnauthorizedOperation', 403, Unauthorized, 'slow'],
    ['RequestLimitExceeded', 503, Throttled, 'retry'],
    ['InternalError', 500, OutcomeUnknown, 'same-again'],
    ['InvalidAMIID.NotFound', 400, NodeClassError, 'node-class'],
    ['SomethingNew', 400, MachineError, 'retry'],
    ['PendingVerification', 400, MachineError, 'slow'],
  ])('that is refused with %s tells what happens next', async (code, status, kind, next) => {
    ec2({ RunInstances: () => failure(code, status) });

    const error = await failureOf(launch());

    expect(error).toBeInstanceOf(kind);
    expect(error.next).toBe(next);
    expect(error.message).toContain(code);
  });

  test('whose answer is lost has an unknown outcome', async () => {
    ec2({ RunInstances: () => 'hang-up' });

    expect(await failureOf(launch())).toBeInstanceOf(OutcomeUnknown);
  });

  test('T5: whose token belongs to a living instance of the claim adopts it', async () => {
    ec2({
      RunInstances: () => failure('IdempotentParameterMismatch', 400),
      DescribeInstances: () => reservations(running('i-old', 'terminated'), running('i-7')),
    });

    expect(await launch()).toMatchObject({ id: 'i-7' });
  });

  test('T5: whose token belongs to a dead instance needs another attempt', async () => {
    ec2({
      RunInstances: () => failure('IdempotentInstanceTerminated', 400),
      DescribeInstances: () => reservations(running('i-old', 'terminated')),
    });

    expect(await failureOf(launch())).toBeInstanceOf(AttemptSpent);
  });

  test('is made in the role that the class names, which is assumed once', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_STS', wire.url);
    const Credentials = {
      AccessKeyId: 'of-the-role',
      SecretAccessKey: 's',
      SessionToken: 't',
      Expiration: '2999-01-01T00:00:00Z',
    };
    ec2({
      AssumeRole: () => ({ AssumeRoleResult: { Credentials } }),
      RunInstances: () => ({ instancesSet: [running('i-1')] }),
    });
    const inRole = nodeClass({ assumeRoleARN: 'arn:aws:iam::123456789012:role/machines' });
    await launch({ nodeClass: inRole });
    await launch({ nodeClass: inRole });

    const [assumed, ...launches] = wire.calls;
    expect(assumed?.parameters.get('RoleArn')).toBe('arn:aws:iam::123456789012:role/machines');
    expect(launches.map(({ authorization }) => authorization)).toEqual([
      expect.stringContaining('Credential=of-the-role/'),
      expect.stringContaining('Credential=of-the-role/'),
    ]);
  });

  test('is given up with its signal', async () => {
    const aborted = AbortSignal.abort(new Error('shutting down'));
    await expect(cloud.launch(request, aborted)).rejects.toThrow('shutting down');
  });

  test('is not sent to an endpoint without TLS', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_EC2', 'http://ec2.example.invalid');
    cloud = new AwsCloud({ clock, clients: new Ec2ClientPool({ maxAttempts: 1 }) });

    expect(await failureOf(launch())).toMatchObject({ reason: 'InsecureEndpoint' });
  });
});

describe('instances', () => {
  test('of one claim are found by cluster and claim, on all pages', async () => {
    ec2({
      DescribeInstances: ({ parameters }) =>
        parameters.has('NextToken')
          ? reservations(running('i-2', 'shutting-down'))
          : { ...reservations(running('i-1', 'stopped')), nextToken: 'more' },
    });

    const found = await cloud.find(nodeClass(), identity, signal);

    expect(found.map(({ id, state }) => [id, state])).toEqual([
      ['i-1', 'stopped'],
      ['i-2', 'terminating'],
    ]);
    expect(Object.fromEntries(wire.calls[0]?.parameters ?? [])).toMatchObject({
      'Filter.1.Name': 'tag:karpenter.unikraft.com/cluster',
      'Filter.1.Value.1': identity.clusterUid,
      'Filter.2.Name': 'tag:karpenter.unikraft.com/nodeclaim-uid',
      'Filter.2.Value.1': identity.claimUid,
    });
  });

  test('of the cluster are listed once for all who ask within two seconds', async () => {
    ec2({ DescribeInstances: () => reservations(running('i-1', 'running', { Name: 'web' })) });
    const ask = async () => cloud.snapshot(nodeClass(), identity.clusterUid, signal);

    const [first] = await Promise.all([ask(), ask(), ask()]);
    expect(first).toMatchObject([{ id: 'i-1', tags: { Name: 'web' } }]);
    expect(wire.calls).toHaveLength(1);

    await clock.forward(seconds(2));
    await ask();
    expect(wire.calls).toHaveLength(2);
  });

  test('are ended; one that is gone already is no error, one that is protected is', async () => {
    ec2({ TerminateInstances: () => ({ instancesSet: [] }) });
    await cloud.terminate(nodeClass(), { ...identity, id: 'i-1' }, signal);
    expect(wire.calls[0]?.parameters.get('InstanceId.1')).toBe('i-1');

    ec2({ TerminateInstances: () => failure('InvalidInstanceID.NotFound', 400) });
    await cloud.terminate(nodeClass(), { ...identity, id: 'i-1' }, signal);

    ec2({ TerminateInstances: () => failure('OperationNotPermitted', 400) });
    const error = await failureOf(cloud.terminate(nodeClass(), { ...identity, id: 'i-1' }, signal));
    expect(error).toBeInstanceOf(TerminationRefused);
  });
});
