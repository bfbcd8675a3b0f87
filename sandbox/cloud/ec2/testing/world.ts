import {
  DescribeInstancesCommand,
  EC2Client,
  type Instance,
  RunInstancesCommand,
  type RunInstancesCommandInput,
} from '@aws-sdk/client-ec2';

import { hours, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Ec2 } from '../ec2.ts';

/** The endpoint, the real SDK against it, and what powers on and off. */
export class World {
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

/** Runs `use` with a world of its own, for a test's fixture. */
export async function withWorld(use: (world: World) => Promise<void>): Promise<void> {
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
}
