import { Resolver } from 'node:dns/promises';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  DescribeInstancesCommand,
  EC2Client,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { ChangeResourceRecordSetsCommand, Route53Client } from '@aws-sdk/client-route-53';
import { describe, expect, test } from 'vitest';

import { silentLogger } from '#kube/log.ts';
import { Authority } from '#pki/authority.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { userDataWith } from '../machine/testing/lone-machine.ts';
import { LocalProcess } from '../processes/local-process.ts';
import { machineZone, SandboxCloud } from './cloud.ts';

const fqdn = `api.web.${machineZone}`;
const port = 8443;
const slow = { running: seconds(30), boot: seconds(30), propagation: seconds(30) };
const credentials = { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' };

async function userData(): Promise<string> {
  const time = new SystemClock();
  const authority = await Authority.create(time, { commonName: 'ca', validity: minutes(60) });
  const tls = await authority.issue({ names: [fqdn], validity: minutes(60) });
  return Buffer.from(userDataWith({ fqdn, port, tls })).toString('base64');
}

/** Launches an instance that listens on its address; returns its id and address. */
async function launch(
  cloud: SandboxCloud,
  sdk: EC2Client,
): Promise<{ id: string; address: string }> {
  const { account } = cloud.ec2;
  const { Instances } = await sdk.send(
    new RunInstancesCommand({
      MinCount: 1,
      MaxCount: 1,
      ImageId: account.images[0]!.id,
      InstanceType: 'm7i.large',
      SubnetId: account.subnets[0]!.id,
      BlockDeviceMappings: [{ DeviceName: '/dev/xvda', Ebs: { DeleteOnTermination: true } }],
      UserData: await userData(),
    }),
  );
  return { id: Instances![0]!.InstanceId!, address: Instances![0]!.PrivateIpAddress! };
}

function sdkOf(cloud: SandboxCloud): EC2Client {
  return new EC2Client({
    region: 'eu-central-1',
    endpoint: cloud.env['AWS_ENDPOINT_URL_EC2']!,
    credentials,
  });
}

const nothing = { instances: 0, volumes: 0, addresses: 0, records: 0, texts: 0, machines: 0 };

/** `open`, or the reason why not. */
async function probe(address: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(port, address, () => resolve('open'));
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  return promise.finally(() => socket.destroy());
}

describe('a machine stands behind each instance', () => {
  test('on while it runs, off when it is terminated', async () => {
    const clock = new FakeClock();
    await using cloud = await SandboxCloud.start({ log: silentLogger, clock, timings: slow });
    const sdk = sdkOf(cloud);
    const { id, address } = await launch(cloud, sdk);
    expect(address).toMatch(/^127\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./);
    expect(cloud.leaks()).toEqual({ ...nothing, instances: 1, addresses: 1 });

    await clock.forward(seconds(30)); // it runs, and boots
    expect(await probe(address)).toBe('ECONNREFUSED');
    await clock.forward(seconds(30));
    await expect.poll(() => probe(address)).toBe('open');

    await sdk.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
    await expect.poll(() => probe(address)).toBe('ECONNREFUSED');
    await clock.forward(seconds(30));
    expect(cloud.leaks()).toEqual(nothing);
    sdk.destroy();
  });

  test('scripts go to instances in the order of their launch', async () => {
    const clock = new FakeClock();
    await using cloud = await SandboxCloud.start({ log: silentLogger, clock, timings: slow });
    const sdk = sdkOf(cloud);
    cloud.machines.next({ health: 'mute' });
    cloud.ec2.instances.next({ running: minutes(2) });
    const first = await launch(cloud, sdk);
    const second = await launch(cloud, sdk);
    await clock.forward(minutes(1));
    await expect.poll(() => probe(second.address)).toBe('open');
    await clock.forward(minutes(5));
    expect(cloud.machines.running).toEqual([second.id, first.id]);
    expect(await probe(first.address)).toBe('ECONNREFUSED');
    sdk.destroy();
  });

  test('as a process of its own, which nothing outlives', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'sandbox-cloud-'));
    const started: LocalProcess[] = [];
    const run = {
      dir,
      start(spec: Parameters<typeof LocalProcess.start>[0]): LocalProcess {
        const machine = LocalProcess.start(spec, join(dir, `${spec.name}.log`));
        started.push(machine);
        return machine;
      },
    };
    const cloud = await SandboxCloud.start({ log: silentLogger, run });
    const sdk = sdkOf(cloud);
    const { id, address } = await launch(cloud, sdk);
    await expect.poll(() => probe(address), { timeout: 10_000 }).toBe('open');
    const { Reservations } = await sdk.send(new DescribeInstancesCommand({ InstanceIds: [id] }));
    expect(Reservations![0]!.Instances![0]!.State!.Name).toBe('running');

    await cloud.stop();
    sdk.destroy();
    expect(started.map((machine) => machine.exit?.signal)).toEqual(['SIGKILL']);
    expect(await probe(address)).toBe('ECONNREFUSED');
    expect(await readdir(join(dir, 'machines'))).toEqual([]);
    await rm(dir, { recursive: true });
  }, 20_000);
});

test('a record that is written resolves once it has spread', async () => {
  const clock = new FakeClock();
  await using cloud = await SandboxCloud.start({ log: silentLogger, clock, timings: slow });
  const endpoint = cloud.env['AWS_ENDPOINT_URL_ROUTE_53']!;
  const sdk = new Route53Client({ region: 'eu-central-1', endpoint, credentials });
  const resolver = new Resolver({ timeout: 1000, tries: 1 });
  resolver.setServers([cloud.dnsServer]);
  const Changes = [fqdn, `*.web.${machineZone}`].map((Name) => ({
    Action: 'UPSERT' as const,
    ResourceRecordSet: {
      Name,
      Type: 'A' as const,
      TTL: 60,
      ResourceRecords: [{ Value: '127.64.0.1' }],
    },
  }));
  const HostedZoneId = cloud.route53.zones.all[0]!.id;
  await sdk.send(new ChangeResourceRecordSetsCommand({ HostedZoneId, ChangeBatch: { Changes } }));

  await expect(resolver.resolve4(fqdn)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await clock.forward(seconds(30));
  expect(await resolver.resolve4(fqdn)).toEqual(['127.64.0.1']);
  expect(await resolver.resolve4(`shop.web.${machineZone}`)).toEqual(['127.64.0.1']);
  expect(cloud.leaks().records).toBe(2);
  sdk.destroy();
});
