import { expect } from 'vitest';

import { ComputeApi } from '#machine/cloud/gcp/api.ts';
import { GcpCloud } from '#machine/cloud/gcp/gcp-cloud.ts';
import { LaunchUnderWay } from '#machine/errors.ts';
import { IamApi } from '#machine/gcp/iam.ts';
import type { Candidate, Instance, MachineIdentity } from '#machine/machine.ts';
import { tags } from '#schemas/names.ts';
import type { GcpSpec } from '#schemas/nodeclass/types.ts';
import type { ResolvedNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { Gce } from '../gce.ts';
import { GoogleIam } from '../iam.ts';
import { tokenAnswer } from '../metadata-server.ts';

export const { signal } = new AbortController();

/** The error that a call must end with. */
export const failureOf = async (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail('it succeeded'),
    (error: Error) => error,
  );

/** The endpoint, the real provider against it, and a node class that it resolved. */
export class World {
  readonly clock: FakeClock;
  readonly power: string[] = [];
  readonly gce: Gce;
  readonly iam: GoogleIam;
  cloud!: GcpCloud;
  nodeClass!: ResolvedNodeClass;
  #addresses = 0;

  constructor(clock = new FakeClock()) {
    this.clock = clock;
    this.gce = new Gce({
      clock: this.clock,
      timings: {
        provisioning: seconds(5),
        running: seconds(10),
        terminating: seconds(30),
        invisible: seconds(2),
      },
      hardware: {
        place: () => `127.64.0.${++this.#addresses}`,
        powerOn: ({ launch }) => this.power.push(`on ${launch.name}`),
        powerOff: ({ launch }) => this.power.push(`off ${launch.name}`),
      },
    });
    this.iam = new GoogleIam({ clock: this.clock, grants: this.gce.grants });
  }

  async stop(): Promise<void> {
    await Promise.all([this.gce.stop(), this.iam.stop()]);
  }

  async start(): Promise<void> {
    await Promise.all([this.gce.start(), this.iam.start()]);
    this.restart();
    this.nodeClass = await this.resolve();
  }

  /** The provider as a process that has just started has it: it remembers nothing. */
  restart(): void {
    const url = `${this.iam.url}/v1/`;
    const iam = new IamApi(async () => tokenAnswer.token, { resources: url, iam: url });
    this.cloud = new GcpCloud({ clock: this.clock, api: this.api(), iam });
  }

  api(): ComputeApi {
    const root = `${this.gce.url}/compute/v1/`;
    return new ComputeApi(async () => tokenAnswer.token, root, this.clock);
  }

  async resolve(
    gcp: Partial<GcpSpec> = {},
    rest: Partial<UnikraftNodeClassSpec> = {},
  ): Promise<ResolvedNodeClass> {
    const spec = specOf(gcp, rest);
    const placement = await this.cloud.resolve(spec, signal);
    return { ...placement, nodeClass: 'default', spec, dnsZoneID: '' };
  }

  candidate(changes: Partial<Candidate> = {}): Candidate {
    const [first] = this.nodeClass.subnets;
    const { id: subnet = '', zone = '' } = first ?? {};
    return { attempt: 1, instanceType: 'n2-standard-8', zone, subnet, metal: false, ...changes };
  }

  async launch(
    candidate: Partial<Candidate> = {},
    identity: MachineIdentity = identityOf('web'),
  ): Promise<Instance> {
    const request = {
      identity,
      nodeClass: this.nodeClass,
      candidate: this.candidate(candidate),
      userData: '#cloud-config\n',
    };
    return this.cloud.launch(request, signal);
  }

  /** Asks again every two seconds while the launch is under way, as the controller does: by the cloud first. */
  async launched(
    candidate: Partial<Candidate> = {},
    identity: MachineIdentity = identityOf('web'),
  ): Promise<Instance> {
    for (;;) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one look after the other
        return await this.launch(candidate, identity);
      } catch (error) {
        if (!(error instanceof LaunchUnderWay)) throw error;
        // oxlint-disable-next-line no-await-in-loop -- one look after the other
        await this.clock.forward(seconds(2));
      }
    }
  }

  async find(identity: MachineIdentity = identityOf('web')): Promise<readonly Instance[]> {
    return this.cloud.find(this.nodeClass, identity, signal);
  }

  async snapshot(): Promise<readonly Instance[]> {
    await this.clock.forward(seconds(2)); // none that was taken before
    return this.cloud.snapshot(this.nodeClass, 'cluster-1', signal);
  }

  async end({ id, zone, tags: carried }: Instance): Promise<void> {
    const clusterUid = carried[tags.cluster] ?? '';
    const wanted = { id, zone, clusterUid, claimUid: carried[tags.claimUid] };
    await this.cloud.terminate(this.nodeClass, wanted, signal);
  }
}

export function specOf(
  gcp: Partial<GcpSpec> = {},
  rest: Partial<UnikraftNodeClassSpec> = {},
): UnikraftNodeClassSpec {
  const cloud: GcpSpec = {
    project: 'sandbox-project',
    region: 'europe-west1',
    network: 'default',
    subnetwork: 'machines',
    ...gcp,
  };
  return {
    gcp: cloud,
    image: { selectorTerms: [{ name: 'unikraft-platform-*', owner: 'unikraft-images' }] },
    dns: { provider: 'Route53', zone: 'machines.example.com' },
    certificate: { api: { mode: 'PrivateCA' } },
    kraftlet: { chart: '/charts/kraftlet' },
    ...rest,
  };
}

export function identityOf(name: string, clusterUid = 'cluster-1'): MachineIdentity {
  const owner = { nodePool: 'web.Pool', nodeClass: 'default', clusterUid };
  return { name, claim: `${name}.x7k2p`, claimUid: `uid-of-${name}`, ...owner };
}

/** Runs `use` with a world of its own, for a test's fixture. */
export async function withWorld(use: (world: World) => Promise<void>): Promise<void> {
  const world = new World();
  await world.start();
  await use(world);
  await world.stop();
}
