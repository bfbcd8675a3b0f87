import { setImmediate as turn } from 'node:timers/promises';

import { EC2Client, RunInstancesCommand } from '@aws-sdk/client-ec2';

import { readArguments } from '#cli/cleanup/arguments.ts';
import { cleanup } from '#cli/cleanup/cleanup.ts';
import { placesOf } from '#cli/cleanup/everywhere.ts';
import { ownTags } from '#machine/cloud/aws/own-tags.ts';
import { route53Client } from '#machine/dns/route53/client.ts';
import { Route53Dns } from '#machine/dns/route53/route53-dns.ts';
import { Ec2 } from '#sandbox/cloud/ec2/ec2.ts';
import { Route53 } from '#sandbox/cloud/route53/route53.ts';
import type { HostedZone } from '#sandbox/cloud/route53/zones.ts';
import { hours, milliseconds, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

export const [ours, theirs] = [
  '3f2a91c0-1111-4222-8333-44445555aaaa',
  '77b0e4d2-1111-4222-8333-44445555bbbb',
] as const;
const zoneName = 'machines.sandbox.test';
const region = 'eu-central-1';
const signal = new AbortController().signal;

/** One account that several clusters have machines in. */
export class SharedAccount {
  readonly clock = new FakeClock();
  readonly ec2: Ec2;
  readonly route53: Route53;
  readonly zone: HostedZone;
  #sdk!: EC2Client;
  #dns!: Route53Dns;
  #addresses = 0;

  private constructor() {
    const { clock } = this;
    const place = (): string =>
      `127.64.${Math.floor(++this.#addresses / 250)}.${this.#addresses % 250}`;
    const hardware = { place, powerOn: () => {}, powerOff: () => {} };
    const timings = {
      running: seconds(1),
      terminating: seconds(40),
      invisible: 0,
      listed: hours(1),
    };
    this.ec2 = new Ec2({ clock, timings, hardware });
    this.route53 = new Route53({ clock, timings: { propagation: seconds(1) } });
    this.zone = this.route53.zones.create(zoneName);
  }

  /** @param setEnv  for the variables that lead the SDK here */
  static async open(setEnv: (name: string, value: string) => unknown): Promise<SharedAccount> {
    const account = new SharedAccount();
    await Promise.all([account.ec2.start(), account.route53.start()]);
    setEnv('AWS_ENDPOINT_URL_EC2', account.ec2.url);
    setEnv('AWS_ENDPOINT_URL_ROUTE_53', account.route53.url);
    setEnv('AWS_ACCESS_KEY_ID', 'sandbox');
    setEnv('AWS_SECRET_ACCESS_KEY', 'sandbox');
    account.#sdk = new EC2Client({ region, maxAttempts: 1 });
    const client = route53Client({ maxAttempts: 1 });
    account.#dns = new Route53Dns({ clock: account.clock, client });
    return account;
  }

  async close(): Promise<void> {
    this.#sdk.destroy();
    await Promise.all([this.ec2.stop(), this.route53.stop()]);
  }

  /** A machine with its name, tagged as the controller tags it. With `keeps` its disk and its interface outlive it. */
  async machine(clusterUid: string, name: string, keeps = false): Promise<string> {
    const identity = {
      name,
      claim: name,
      claimUid: `uid-${name}`,
      nodePool: 'web',
      nodeClass: 'default',
    };
    const Tags = Object.entries(ownTags({ ...identity, clusterUid })).map(([Key, Value]) => ({
      Key,
      Value,
    }));
    const { images, subnets, securityGroups } = this.ec2.account;
    const { Instances = [] } = await this.#sdk.send(
      new RunInstancesCommand({
        MinCount: 1,
        MaxCount: 1,
        ImageId: images[0]!.id,
        InstanceType: 'm7i.large',
        SubnetId: subnets[0]!.id,
        SecurityGroupIds: [securityGroups[0]!.id],
        BlockDeviceMappings: [
          { DeviceName: images[0]!.rootDevice, Ebs: { DeleteOnTermination: !keeps } },
        ],
        TagSpecifications: (['instance', 'volume', 'network-interface'] as const).map(
          (ResourceType) => ({
            ResourceType,
            Tags,
          }),
        ),
      }),
    );
    const [{ InstanceId: id = '', PrivateIpAddress: address = '' } = {}] = Instances;
    const records = [`api.${name}.${zoneName}`, `*.${name}.${zoneName}`].map((one) => ({
      name: one,
      address,
      ttl: 60,
    }));
    const owner = { clusterUid, claimUid: identity.claimUid };
    await this.#inTime(this.#dns.upsert(this.zone.id, records, owner, signal));
    await this.clock.forward(seconds(1)); // it runs
    const own = this.ec2.instances.interfaces.all.find(({ instance }) => instance === id);
    if (own && keeps) own.deletedOnTermination = false;
    return id;
  }

  /** What a person would see of the account: instances that are not ended, disks, and names that are not the zone's own. */
  contents() {
    const instances = this.ec2.instances.all.filter(({ state }) => state !== 'terminated');
    return {
      instances: instances.map(({ id, state }) => `${id} ${state}`),
      volumes: this.ec2.instances.volumes.all.map(({ id }) => id),
      interfaces: this.ec2.instances.interfaces.all.map(({ id }) => id),
      records: [...this.zone.records.values()].filter(({ name }) => name !== this.zone.name),
    };
  }

  /** The command of one cluster, answered with `confirmed`; `meanwhile` happens once it is. */
  async clean(
    clusterUid: string,
    confirmed = true,
    meanwhile: () => Promise<unknown> = async () => {},
  ) {
    const args = readArguments(['--cluster', clusterUid, '--region', region, '--zone', zoneName]);
    if (args instanceof Error) throw args;
    const said: string[] = [];
    const say = (text: string): unknown => said.push(text);
    const confirm = async (): Promise<boolean> => {
      await meanwhile();
      return confirmed;
    };
    const places = await placesOf(args, this.clock, 1);
    const done = await this.#inTime(cleanup({ clusterUid, places, confirm, say }, signal));
    return { done, said: said.join('\n') };
  }

  /** Moves the clock on until the work is done. */
  async #inTime<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    work.then(end, end);
    while (!isOver) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.clock.forward(milliseconds(200));
      // oxlint-disable-next-line no-await-in-loop -- the network is real
      await turn();
    }
    return work;
  }
}
