import { setImmediate as turn } from 'node:timers/promises';

import { cleanup } from '#cli/cleanup/cleanup.ts';
import { placesInGcp } from '#cli/cleanup/gcp/places.ts';
import { CloudDnsApi } from '#machine/dns/clouddns/api.ts';
import { CloudDns as Writer } from '#machine/dns/clouddns/cloud-dns.ts';
import { CloudDns, type ManagedZone } from '#sandbox/cloud/clouddns/clouddns.ts';
import { tokenAnswer } from '#sandbox/cloud/gce/metadata-server.ts';
import { identityOf, World } from '#sandbox/cloud/gce/testing/world.ts';
import { milliseconds, seconds } from '#schemas/time/clock.ts';

export const project = 'sandbox-project';
const domain = 'machines.google.test';
const { signal } = new AbortController();
const token = async (): Promise<string> => tokenAnswer.token;

/** One project of Google's that several clusters have machines in. */
export class SharedProject {
  readonly world = new World();
  readonly dns: CloudDns;
  readonly zone: ManagedZone;
  #writer!: Writer;

  private constructor() {
    const timings = { propagation: seconds(1) };
    this.dns = new CloudDns({ clock: this.world.clock, timings });
    this.zone = this.dns.create(project, 'machines', domain);
  }

  /** @param setEnv  for the variables that lead the command here */
  static async open(setEnv: (name: string, value: string) => unknown): Promise<SharedProject> {
    const opened = new SharedProject();
    const { world, dns } = opened;
    await Promise.all([world.start(), dns.start()]);
    setEnv('CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE', `${world.gce.url}/compute/v1/`);
    setEnv('CLOUDSDK_API_ENDPOINT_OVERRIDES_DNS', `${dns.url}/dns/v1/`);
    opened.#writer = new Writer({ clock: world.clock, api: new CloudDnsApi(token), project });
    return opened;
  }

  async close(): Promise<void> {
    await Promise.all([this.world.gce.stop(), this.dns.stop()]);
  }

  /** A machine with its name. With `keeps` its disk outlives it. */
  async machine(clusterUid: string, name: string, keeps = false): Promise<void> {
    const { world } = this;
    const identity = identityOf(name, clusterUid);
    const { privateAddress = '' } = await world.launched({}, identity);
    await world.clock.forward(seconds(10)); // it runs
    const disk = world.gce.instances.disks.all.find(({ instance }) => instance === `uk-${name}`);
    if (disk && keeps) disk.autoDelete = false;
    const record = { name: `api.${name}.${domain}`, address: privateAddress, ttl: 60 };
    const { id } = this;
    const { claimUid, claim } = identity;
    const owner = { clusterUid, claimUid, claim };
    await this.#inTime(this.#writer.upsert(id, [record], owner, signal));
  }

  get id(): string {
    return `projects/${project}/managedZones/machines`;
  }

  /** What a person would see of the project. */
  contents() {
    const { all, disks } = this.world.gce.instances;
    return {
      instances: all.map(({ launch, status }) => `${launch.name} ${status}`),
      disks: disks.all.map(({ name }) => name),
      records: [...this.zone.records.values()]
        .filter(({ type }) => type === 'A')
        .map(({ name }) => name),
    };
  }

  /** The command of one cluster, answered with `confirmed`. */
  async clean(clusterUid: string, confirmed = true) {
    const args = {
      clusterUid,
      regions: [],
      zones: [],
      projects: [project],
      managedZones: [{ project, name: domain, id: undefined }],
      assumeRoleARN: undefined,
      assumeRoleExternalID: undefined,
      yes: false,
    };
    const said: string[] = [];
    const { names, instances, parts } = placesInGcp(args, this.world.clock, token);
    const cleaning = {
      clusterUid,
      places: [...names, ...instances, ...parts],
      confirm: async () => confirmed,
      say: (text: string): unknown => said.push(text),
    };
    const done = await this.#inTime(cleanup(cleaning, signal));
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
      await this.world.clock.forward(milliseconds(200));
      // oxlint-disable-next-line no-await-in-loop -- the network is real
      await turn();
    }
    return work;
  }
}
