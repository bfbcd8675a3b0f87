import type { Logger } from '#kube/log.ts';
import { TokenIssuer } from '#machine/testing/token-issuer.ts';
import type { Clock } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import type { ServedZone } from '../dns/answer.ts';
import { DnsServer } from '../dns/server.ts';
import type { Surroundings } from '../machine/call.ts';
import { LoopbackBlock } from '../machine/loopback.ts';
import { Machines, type ProcessHome } from '../machine/machines.ts';
import { CloudDns, type ManagedZone } from './clouddns/clouddns.ts';
import { Ec2 } from './ec2/ec2.ts';
import type { Hardware } from './ec2/instances.ts';
import { regionOf } from './ec2/region.ts';
import { Gce } from './gce/gce.ts';
import { GoogleIam } from './gce/iam.ts';
import type { Hardware as GceHardware } from './gce/instance.ts';
import { tokenAnswer } from './gce/metadata-server.ts';
import { MetadataServer, type Resident } from './metadata/metadata.ts';
import { Route53 } from './route53/route53.ts';
import type { HostedZone } from './route53/zones.ts';
import { Ssm } from './ssm/ssm.ts';
import { Sts } from './sts/sts.ts';
import { type CloudTimings, quick } from './timings.ts';

export interface SandboxCloudOptions {
  readonly log: Logger;
  /** Default: real time. Machines that are processes live in real time whatever this says. */
  readonly clock?: Clock;
  readonly timings?: Partial<CloudTimings>;
  /** Given: each machine is a process in this run of the sandbox. Else all are in this process. */
  readonly run?: ProcessHome;
}

/** What must be gone when all claims are. */
export interface CloudLeaks {
  /** Not terminated. */
  readonly instances: number;
  /** Disks that outlived their instance. */
  readonly volumes: number;
  /** Addresses of networks and of the world that are held, by an instance or by an interface that outlived it. */
  readonly addresses: number;
  /** Records in zones beside SOA, NS and TXT. */
  readonly records: number;
  /** TXT records, which tell whose a name is. */
  readonly texts: number;
  /** Machines that are still on. */
  readonly machines: number;
}

/** The zone that the sandbox's node classes write into: that of Route 53. */
export const machineZone = 'machines.sandbox.test';
/** That of Cloud DNS. */
export const googleZone = 'machines.google.test';
/** Of the one account of AWS. */
const accountNumber = '123456789012';
/** Signatures are not verified, so any will do; this one is found again where it was told. */
const secretAccessKey = 'sandbox-secret-access-key';

/**
 * Two whole clouds on loopback: EC2, Route 53, STS and Systems Manager for the SDKs, Compute Engine and Cloud DNS over REST, DNS for whoever
 * resolves, and a machine behind each instance.
 *
 * @example
 * await using cloud = await SandboxCloud.start({ log });
 * cloud.machines.next({ health: 'degraded' });
 * cloud.ec2.faults.next('RunInstances', lost());
 */
export class SandboxCloud {
  readonly ec2: Ec2;
  readonly route53: Route53;
  readonly sts: Sts;
  readonly ssm: Ssm;
  readonly gce: Gce;
  readonly iam: GoogleIam;
  readonly cloudDns: CloudDns;
  readonly machines: Machines;
  readonly #issuers: { readonly aws: TokenIssuer; readonly google: TokenIssuer };
  readonly #metadata: MetadataServer;
  readonly #dns: DnsServer;
  readonly #others: (() => ServedZone)[] = [];
  readonly #block: LoopbackBlock;

  private constructor(
    block: LoopbackBlock,
    issuers: { readonly aws: TokenIssuer; readonly google: TokenIssuer },
    options: SandboxCloudOptions,
  ) {
    const { log, clock = new SystemClock(), run } = options;
    const timings = { ...quick, ...options.timings };
    const { boot, unknown, degraded } = timings;
    const usual = { boot, unknown, degraded, health: 'healthy' } as const;
    this.#block = block;
    this.#issuers = issuers;
    this.#metadata = new MetadataServer({ ...issuers, whoIs: (address) => this.#whoIs(address) });
    this.machines = new Machines({
      clock,
      log,
      usual,
      home: run,
      surroundings: () => this.surroundings,
    });
    this.ec2 = new Ec2({ clock, timings, hardware: this.#hardware() });
    this.route53 = new Route53({ clock, timings });
    this.route53.zones.create(machineZone);
    this.sts = new Sts({
      clock,
      webIdentity: (accessKey, audience) => this.#metadata.webIdentity(accessKey, audience),
    });
    this.ssm = new Ssm({ clock });
    this.gce = new Gce({ clock, timings, hardware: this.#googleHardware() });
    this.iam = new GoogleIam({ clock, grants: this.gce.grants });
    this.cloudDns = new CloudDns({ clock, timings });
    this.cloudDns.create(this.gce.project.id, 'machines', googleZone);
    this.#dns = new DnsServer(() => [
      ...this.route53.zones.all.map(served),
      ...this.cloudDns.zones.map(servedByGoogle),
      ...this.#otherZones,
    ]);
  }

  static async start(options: SandboxCloudOptions): Promise<SandboxCloud> {
    const [block, aws, google] = await Promise.all([
      LoopbackBlock.claim(),
      TokenIssuer.start('ES384'),
      TokenIssuer.start('RS256'),
    ]);
    const cloud = new SandboxCloud(block, { aws, google }, options);
    await Promise.all([...cloud.#services.map(async (one) => one.start()), cloud.#dns.start()]);
    return cloud;
  }

  get #services() {
    const clouds = [this.ec2, this.route53, this.sts, this.ssm, this.gce, this.iam, this.cloudDns];
    return [...clouds, this.#metadata];
  }

  /** Has names answered for that are held elsewhere; what stands in such a zone is left over as in any. */
  serve(zone: () => ServedZone): void {
    this.#others.push(zone);
  }

  get #otherZones(): ServedZone[] {
    return this.#others.map((zone) => zone());
  }

  /** `127.0.0.1:port`: answers for the zones of both clouds. */
  get dnsServer(): string {
    return this.#dns.address;
  }

  /** What a process needs in its environment to find these clouds: its AWS SDK, and Google's variables for ours. */
  get env(): Record<string, string> {
    return {
      AWS_ENDPOINT_URL_EC2: this.ec2.url,
      AWS_ENDPOINT_URL_ROUTE_53: this.route53.url,
      AWS_ENDPOINT_URL_STS: this.sts.url,
      AWS_ENDPOINT_URL_SSM: this.ssm.url,
      AWS_ACCESS_KEY_ID: 'sandbox',
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_REGION: this.ec2.account.region.name,
      AWS_EC2_METADATA_DISABLED: 'true',
      CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: `${this.gce.url}/compute/v1/`,
      CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER: this.iam.url,
      CLOUDSDK_API_ENDPOINT_OVERRIDES_IAM: this.iam.url,
      CLOUDSDK_API_ENDPOINT_OVERRIDES_DNS: `${this.cloudDns.url}/dns/v1/`,
      GCE_METADATA_HOST: new URL(this.gce.url).host,
      METADATA_SERVER_DETECTION: 'assume-present',
    };
  }

  /** Where machines find out who they are. */
  get surroundings(): Surroundings {
    return { metadata: this.#metadata.url, sts: this.sts.url };
  }

  /** Settings of an operator that believes these clouds which machine calls. */
  get bootstrapTrust(): Record<string, string> {
    const { aws, google } = this.#issuers;
    return { BOOTSTRAP_AWS_ISSUERS: aws.url, BOOTSTRAP_GOOGLE_KEYS: google.url };
  }

  /** What callers prove themselves with, by what it is of. */
  get secrets(): Record<string, string> {
    return {
      'secret access key of AWS': secretAccessKey,
      'access token of Google Cloud': tokenAnswer.token,
    };
  }

  /** In every region and zone of both clouds. */
  leaks(): CloudLeaks {
    const { regions, everywhere } = this.ec2;
    const ended = regions.flatMap(({ instances }) => instances.leftVolumes);
    const interfaces = regions.flatMap(({ instances }) => instances.interfaces.all);
    const onEc2 = everywhere.filter(({ state }) => state !== 'terminated');
    const google = this.gce.instances;
    const open = [...onEc2, ...google.all].filter(({ launch }) => launch.public);
    const records = [
      ...this.route53.zones.all.flatMap((zone) => [...zone.records.values()]),
      ...this.cloudDns.zones.flatMap((zone) => [...zone.records.values()]),
      ...this.#otherZones.flatMap(({ sets }) => sets),
    ].filter(({ type }) => type !== 'SOA' && type !== 'NS');
    const texts = records.filter(({ type }) => type === 'TXT').length;
    return {
      instances: onEc2.length + google.all.length,
      volumes: ended.length + google.leftDisks.length,
      addresses: interfaces.length + google.all.length + open.length,
      records: records.length - texts,
      texts,
      machines: this.machines.running.length,
    };
  }

  async stop(): Promise<void> {
    await this.machines.stop(); // first, since an instance that starts meanwhile asks the others where they are
    await Promise.all([...this.#services.map(async (one) => one.stop()), this.#dns.stop()]);
    await Promise.all(Object.values(this.#issuers).map(async (issuer) => issuer.stop()));
    await this.#block.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #whoIs(address: string): Resident | undefined {
    const onEc2 = this.ec2.everywhere.find(
      (one) => one.address === address && one.state !== 'terminated',
    );
    if (onEc2) {
      const { id: instance, launch } = onEc2;
      const region = regionOf(launch.subnet.zone);
      return { cloud: 'aws', account: accountNumber, region, instance, profile: launch.profile };
    }
    const onGce = this.gce.instances.all.find((one) => one.address === address);
    if (!onGce) return undefined;
    const { name: instance, zone, serviceAccount } = onGce.launch;
    return { cloud: 'gcp', project: this.gce.project.id, zone, instance, serviceAccount };
  }

  #hardware(): Hardware {
    return {
      place: (id) => {
        this.machines.assign(id);
        return this.#freeAddress();
      },
      powerOn: ({ id, address, launch }) =>
        this.machines.powerOn({ id, address, userData: launch.userData }),
      powerOff: ({ id }) => this.machines.powerOff(id),
    };
  }

  #googleHardware(): GceHardware {
    return {
      place: (id) => {
        this.machines.assign(id);
        return this.#freeAddress();
      },
      powerOn: ({ id, address, launch }) => {
        const userData = launch.metadata.find(({ key }) => key === 'user-data')?.value ?? '';
        this.machines.powerOn({ id, address, userData });
      },
      powerOff: ({ id }) => this.machines.powerOff(id),
    };
  }

  #freeAddress(): string {
    const held = [
      ...this.ec2.everywhere.filter(({ state }) => state !== 'terminated'),
      ...this.gce.instances.all,
    ];
    return this.#block.next(new Set(held.map(({ address }) => address)));
  }
}

function servedByGoogle({ dnsName, published }: ManagedZone): ServedZone {
  const spelled = (text: string): string => text.replace(/\.$/, '');
  const sets = [...published.values()].map(({ name, type, ttl, rrdatas }) => ({
    name: spelled(name),
    type,
    ttl,
    values: rrdatas,
  }));
  return { name: spelled(dnsName), sets };
}

/** A zone as DNS spells it: no final dot, `*` for Route 53's `\052`. */
function served({ name, published }: HostedZone): ServedZone {
  const spelled = (text: string): string =>
    text.replace(/\.$/, '').replaceAll(String.raw`\052`, '*');
  return {
    name: spelled(name),
    sets: [...published.values()].map((set) => ({ ...set, name: spelled(set.name) })),
  };
}
