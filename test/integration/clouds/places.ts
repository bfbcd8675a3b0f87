import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  CreateTagsCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  EC2Client,
} from '@aws-sdk/client-ec2';
import { CreateHostedZoneCommand, Route53Client } from '@aws-sdk/client-route-53';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';

import { AwsCloud } from '#machine/cloud/aws/aws-cloud.ts';
import { Ec2ClientPool } from '#machine/cloud/aws/clients.ts';
import { route53Client } from '#machine/dns/route53/client.ts';
import { Route53Dns } from '#machine/dns/route53/route53-dns.ts';
import { Ec2 } from '#sandbox/cloud/ec2/ec2.ts';
import { Route53 } from '#sandbox/cloud/route53/route53.ts';
import { Ssm } from '#sandbox/cloud/ssm/ssm.ts';
import { Sts } from '#sandbox/cloud/sts/sts.ts';
import { LocalProcess } from '#sandbox/processes/local-process.ts';
import { withFreePort } from '#sandbox/processes/ports.ts';
import { untilReady } from '#sandbox/processes/ready.ts';
import { ensureMoto } from '#sandbox/tools/moto.ts';
import { ScreenProgress } from '#sandbox/tools/progress.ts';
import { hours, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

const zoneName = 'machines.sandbox.test';
const discovery = { Key: 'karpenter.sh/discovery', Value: 'sandbox' };
const region = 'eu-central-1';

/** As moto wants it: what is registered by a call loses its architecture and root device there. */
const image = {
  ami_id: 'ami-0c000000000000001',
  name: 'unikraft-platform-1',
  owner_id: '123456789012',
  architecture: 'x86_64',
  virtualization_type: 'hvm',
  root_device_type: 'ebs',
  root_device_name: '/dev/xvda',
  boot_mode: 'uefi-preferred', // without it moto says uefi, which leaves out old bare metal
};

/** May be assumed by who knows the external id. */
export const role = {
  assumeRoleARN: 'arn:aws:iam::123456789012:role/machines',
  assumeRoleExternalID: 'stories',
};

/** Somewhere that calls itself AWS, with the same account in it: an image, tagged subnets and group, a zone. */
export interface Place {
  readonly ec2: EC2Client;
  readonly route53: Route53Client;
  readonly cloud: AwsCloud;
  readonly dns: Route53Dns;
  readonly clock: FakeClock;
  readonly zoneID: string;
  readonly zoneName: string;
  /** Puts a parameter into Systems Manager. */
  parameter(name: string, value: string): Promise<void>;
  /** Lets what is under way come to its end. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const credentials = { accessKeyId: 'sandbox', secretAccessKey: 'sandbox' };

interface Urls {
  readonly ec2: string;
  readonly route53: string;
  readonly sts: string;
  readonly ssm: string;
}

function clientsOf(urls: Urls, clock: FakeClock) {
  const shared = { region, credentials, maxAttempts: 1 };
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_EC2: urls.ec2,
    AWS_ENDPOINT_URL_ROUTE_53: urls.route53,
    AWS_ENDPOINT_URL_STS: urls.sts,
    AWS_ENDPOINT_URL_SSM: urls.ssm,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
  const pool = new Ec2ClientPool({ maxAttempts: 1, clock });
  const zoneClient = route53Client({ maxAttempts: 1 });
  const ec2 = new EC2Client({ ...shared, endpoint: urls.ec2 });
  const route53 = new Route53Client({ ...shared, endpoint: urls.route53 });
  return {
    ec2,
    route53,
    clock,
    cloud: new AwsCloud({ clock, clients: pool }),
    dns: new Route53Dns({ clock, client: zoneClient }),
    closeClients: () => {
      pool.close();
      [zoneClient, ec2, route53].forEach((client) => client.destroy());
    },
  };
}

/** The endpoint that the tests and the sandbox speak to. */
export async function ourPlace(): Promise<Place> {
  const clock = new FakeClock();
  const hardware = { place: () => '127.64.0.1', powerOn: () => {}, powerOff: () => {} };
  const timings = { running: seconds(1), terminating: seconds(1), invisible: 0, listed: hours(1) };
  const ec2 = new Ec2({ clock, timings, hardware });
  const route53 = new Route53({ clock, timings: { propagation: seconds(1) } });
  const { id: zoneID } = route53.zones.create(zoneName);
  const [sts, ssm] = [new Sts({ clock }), new Ssm({ clock })];
  sts.roles.push({ arn: role.assumeRoleARN, externalID: role.assumeRoleExternalID });
  const services = [ec2, route53, sts, ssm];
  await Promise.all(services.map(async (service) => service.start()));
  const urls = { ec2: ec2.url, route53: route53.url, sts: sts.url, ssm: ssm.url };
  const clients = clientsOf(urls, clock);
  return {
    ...clients,
    zoneID,
    zoneName,
    parameter: async (name, value) => ssm.put(name, value),
    settle: async () => clock.forward(seconds(3)),
    close: async () => {
      clients.closeClients();
      await Promise.all(services.map(async (service) => service.stop()));
    },
  };
}

/** moto, with the account that ours has from the start. */
export async function motoPlace(): Promise<Place> {
  const systemClock = new SystemClock();
  const python = await ensureMoto(new ScreenProgress(process.stderr, systemClock));
  const folder = await mkdtemp(join(tmpdir(), 'moto-'));
  const images = join(folder, 'images.json');
  await writeFile(images, JSON.stringify([image]));
  const { process: server, url } = await withFreePort(async (port) => {
    const args = ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)] as const;
    const env = {
      ...process.env,
      MOTO_ENABLE_AMI_VALIDATION: '1',
      MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION: '1',
      MOTO_AMIS_PATH: images,
    };
    const started = LocalProcess.start(
      { name: 'moto', command: [python, ...args], env },
      join(folder, 'moto.log'),
    );
    const at = `http://127.0.0.1:${port}`;
    const isUp = async () => (await fetch(`${at}/moto-api/reset`, { method: 'POST' })).ok;
    await untilReady(started, isUp, { clock: systemClock });
    return { process: started, url: at };
  });
  const clients = clientsOf({ ec2: url, route53: url, sts: url, ssm: url }, new FakeClock());
  const zoneID = await furnish(clients);
  const store = new SSMClient({ region, credentials, endpoint: url });
  return {
    ...clients,
    zoneID,
    zoneName,
    parameter: async (Name, Value) => {
      await store.send(new PutParameterCommand({ Name, Value, Type: 'String', Overwrite: true }));
    },
    settle: async () => {}, // its instances are at the end of each way at once
    close: async () => {
      clients.closeClients();
      store.destroy();
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** @returns the id of the zone */
async function furnish({
  ec2,
  route53,
}: {
  ec2: EC2Client;
  route53: Route53Client;
}): Promise<string> {
  const [{ Subnets = [] }, { SecurityGroups = [] }] = await Promise.all([
    ec2.send(new DescribeSubnetsCommand()),
    ec2.send(new DescribeSecurityGroupsCommand()),
  ]);
  const ids = [...Subnets.map(({ SubnetId }) => SubnetId), SecurityGroups[0]?.GroupId];
  const Resources = ids.flatMap((id) => id ?? []);
  await ec2.send(new CreateTagsCommand({ Resources, Tags: [discovery] }));
  const zone = new CreateHostedZoneCommand({ Name: zoneName, CallerReference: 'stories' });
  const { HostedZone } = await route53.send(zone);
  return (HostedZone?.Id ?? '').replace('/hostedzone/', '');
}
