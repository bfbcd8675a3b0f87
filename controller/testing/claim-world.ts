import type { KubeClient } from '#kube/client/client.ts';
import { Metrics } from '#kube/metrics.ts';
import type { EventNote } from '#kube/runtime/events.ts';
import type { CloudProvider } from '#machine/cloud/provider.ts';
import type { DnsProvider } from '#machine/dns/provider.ts';
import { Authority } from '#pki/authority.ts';
import { nodeClaims, nodePools, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import type { Condition, Live } from '#schemas/kubernetes/meta.ts';
import {
  configMaps,
  controllerRevisions,
  nodes,
  pods,
  secrets,
} from '#schemas/kubernetes/resource.ts';
import { finalizers, labels } from '#schemas/names.ts';
import {
  unikraftNodeClasses,
  type DnsSpec,
  type ResolvedNodeClass,
  type UnikraftNodeClassSpec,
} from '#schemas/nodeclass/types.ts';
import { hours, seconds, type Duration } from '#schemas/time/clock.ts';

import { BootstrapKeys } from '../bootstrap/keys.ts';
import { Tickets } from '../bootstrap/tickets.ts';
import type { Clouds } from '../clouds.ts';
import type { Context } from '../context.ts';
import { ExternalDns } from '../external-dns.ts';
import { Freshest } from '../freshest.ts';
import { launchChain, terminationChain, upkeepChain } from '../nodeclaim/chain.ts';
import { NodeClaimController } from '../nodeclaim/controller.ts';
import { releaseResources } from '../nodeclaim/kraftlet/release.ts';
import { CapacityCheck } from '../nodeclaim/launch/capacity-check.ts';
import { LostNode } from '../nodeclaim/lost-node.ts';
import { CredentialStore } from '../nodeclaim/machine/credentials.ts';
import { Machines } from '../nodeclaim/machine/machines.ts';
import { NodeClaimMetrics } from '../nodeclaim/metrics.ts';
import { Renewal } from '../nodeclaim/renewal/renewal.ts';
import type { Repair } from '../nodeclaim/repair/repair.ts';
import { repairOf } from '../nodeclaim/repair/wiring.ts';
import { ClaimWriter } from '../nodeclaim/steps/claim-writer.ts';
import { CloudCatalog } from '../nodeclass/catalog.ts';
import { Revisions } from '../nodeclass/revisions.ts';
import { Nominations } from '../provisioning/nominations.ts';
import { Reservations } from '../reservations/reservations.ts';
import { certificatesOf } from './certificates.ts';
import { memoryContext } from './context.ts';
import { FakeCloud } from './fake-cloud.ts';
import { FakeExternalDns, ofMachines } from './fake-external-dns.ts';
import { FakeKraftlets } from './fake-kraftlets.ts';
import { FakeDns, FakePlatform, FakeReleases } from './fake-machines.ts';
import { nodeClaim, nodeClassSpec, nodePool, pod } from './objects.ts';
import { Crash, Tripwire } from './tripwire.ts';

const quick = seconds(60);

export const revisionName = 'default-r1';

/** Nothing of a machine is anywhere. */
export const noLeaks = {
  claims: 0,
  instances: 0,
  records: 0,
  secrets: 0,
  nodes: 0,
  releases: 0,
  heldPods: 0,
  reservations: 0,
};

/**
 * One cluster and one cloud in memory, with the NodeClaim controller as a process that can die at any call.
 * Time stands still; a look at everything comes once a second, as if every watch and requeue were in time.
 */
export class ClaimWorld {
  readonly #memory = memoryContext();
  readonly client = this.#memory.client;
  readonly caches = this.#memory.caches;
  readonly clock = this.#memory.clock;
  readonly notes: EventNote[] = this.#memory.notes;
  readonly namespace = this.#memory.namespace;
  readonly context = this.#memory.context;
  readonly cloud = new FakeCloud(this.clock);
  readonly dns = new FakeDns();
  readonly platform = new FakePlatform(this.cloud);
  readonly releases = new FakeReleases();
  readonly kraftlets = new FakeKraftlets(this.client, this.cloud, this.platform);
  readonly wire = new Tripwire();
  nominations!: Nominations;
  #provider: CloudProvider = this.cloud;
  #names: (client: KubeClient) => DnsProvider = () => this.dns;
  #external: FakeExternalDns | undefined;
  #controller!: NodeClaimController;
  #repair!: Repair;
  #renewal!: Renewal;
  readonly authority: Authority;

  private constructor(authority: Authority) {
    this.authority = authority;
  }

  /** @param authority that of another world, where a test makes many */
  static async make(authority?: Authority): Promise<ClaimWorld> {
    const { clock } = memoryContext();
    const options = { commonName: 'machines', validity: hours(24 * 365) };
    const world = new ClaimWorld(authority ?? (await Authority.create(clock, options)));
    world.#seed();
    world.restart();
    return world;
  }

  /** Machines come from there from now on, in place of the fake. */
  useCloud(provider: CloudProvider): void {
    this.#provider = provider;
    this.restart();
  }

  /** Names are held there from now on, as the class says; they are looked up where they always were. */
  useDns(spec: DnsSpec, names: (client: KubeClient) => DnsProvider): void {
    this.#names = names;
    this.#seed({ dns: spec });
    this.restart();
  }

  /** The class says so from the beginning. */
  useSpec(spec: Partial<UnikraftNodeClassSpec>): void {
    this.#seed(spec);
    this.restart();
  }

  /** Names are written by external-dns from now on. */
  delegateDns(): FakeExternalDns {
    const spec = { provider: 'ExternalDNS', zone: 'machines.example.com' } as const;
    this.useDns(spec, (client) => new ExternalDns(client, this.namespace));
    const external = new FakeExternalDns(this.client, this.dns);
    this.#external = external;
    return external;
  }

  /** A new process over the same world; its caches begin with what there is. */
  restart(): void {
    this.wire.mend();
    Object.values(this.caches).forEach((cache) => cache.catchUp());
    const client = this.wire.on('api', this.client);
    const context: Context = { ...this.#memory.context, client };
    const cloud = this.wire.on('cloud', this.#provider);
    const dns = this.wire.on('dns', this.#names(client));
    const clouds: Clouds = { for: async () => cloud, dns: async () => dns };
    const revisions = new Revisions(context);
    const claims = new Freshest<NodeClaim>(context.caches.nodeClaims);
    const freshNodes = new Freshest<Node>(context.caches.nodes);
    const writer = new ClaimWriter(client, claims);
    const credentials = new CredentialStore(
      context,
      certificatesOf(context, this.authority),
      new Tickets(
        new BootstrapKeys(client, this.namespace, this.clock),
        context.clusterUid,
        this.clock,
      ),
    );
    this.nominations = new Nominations(context);
    const reservations = new Reservations(context);
    const parts = {
      context,
      writer,
      credentials,
      catalog: new CloudCatalog(context, revisions, clouds),
      reservations,
      nominations: this.nominations,
      machines: new Machines(clouds, credentials),
      names: this.wire.on('dns', this.dns),
      platform: this.wire.on('platform', this.platform),
      releases: this.wire.on('releases', this.releases),
      capacity: new CapacityCheck(context, reservations),
      nodes: freshNodes,
    };
    this.#renewal = new Renewal(context, { ...parts, revisions, metrics: new Metrics() });
    this.#repair = repairOf(context, { ...parts, revisions }, new Metrics());
    this.#controller = new NodeClaimController(context, {
      claims,
      revisions,
      writer,
      metrics: new NodeClaimMetrics(new Metrics(), this.clock),
      lostNode: new LostNode(client, freshNodes),
      chains: {
        launch: launchChain(parts),
        upkeep: upkeepChain(parts),
        termination: terminationChain(parts),
      },
    });
  }

  /** The once-a-minute look after machines and their Kraftlets. */
  async round(): Promise<void> {
    await this.#repair.look(new AbortController().signal);
  }

  /** One look at all certificates. */
  async renew(): Promise<void> {
    await this.#renewal.look(new AbortController().signal);
  }

  /** One pass over one claim. A process that dies in it is started again. */
  async pass(name = 'web-1'): Promise<Duration | undefined> {
    try {
      const result = await this.#controller.reconcile(name, new AbortController().signal);
      return result.requeueAfter;
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      return undefined;
    } finally {
      if (this.wire.isDead) this.restart();
    }
  }

  /** Kubernetes, Kraftlet and external-dns do their part, then each claim is looked at. */
  async look(): Promise<void> {
    await this.kraftlets.act();
    this.#external?.act();
    for (const { metadata } of this.client.all(nodeClaims)) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, so that a story is the same each time
      await this.pass(metadata.name);
    }
  }

  /** A look each second, and more seldom after a minute, until what is wanted is so; gives up after `atMost`. */
  async until(isSo: () => boolean, atMost: Duration = seconds(400)): Promise<void> {
    const begin = this.clock.now();
    while (!isSo()) {
      if (this.clock.now() - begin > atMost)
        throw new Error(`not within ${atMost / 1000} s: ${String(isSo)}`);
      // oxlint-disable-next-line no-await-in-loop -- time passes between two looks
      await this.look();
      const pause = this.clock.now() - begin < quick ? seconds(1) : seconds(5);
      // oxlint-disable-next-line no-await-in-loop
      await this.clock.forward(pause);
    }
  }

  async claim(claim: Partial<NodeClaim> = {}, name = 'web-1'): Promise<void> {
    await this.client.create(nodeClaims, nodeClaim(name, claim));
  }

  async initialized(name = 'web-1'): Promise<void> {
    await this.until(() => this.condition('Initialized', name)?.status === 'True');
  }

  async delete(name = 'web-1'): Promise<void> {
    await this.client.delete(nodeClaims, { name });
  }

  async gone(name = 'web-1'): Promise<void> {
    await this.until(() => this.find(name) === undefined);
    this.#external?.act(); // a machine that died is not kept until its names are gone
  }

  find(name = 'web-1'): Live<NodeClaim> | undefined {
    return this.client.peek(nodeClaims, { name });
  }

  condition(type: string, name = 'web-1'): Condition | undefined {
    return this.find(name)?.status?.conditions?.find((one) => one.type === type);
  }

  get nodes(): Live<Node>[] {
    return this.client.all(nodes);
  }

  /** A Pod that waits for a Node. */
  pendPod(name: string): void {
    this.client.seed(pods, { ...pod(name), status: { phase: 'Pending' } });
  }

  /** A Pod that the scheduler put on the only Node. */
  bindPod(name: string, rest: Parameters<typeof pod>[1] = {}): void {
    const nodeName = this.nodes[0]?.metadata.name ?? '';
    const made = pod(name, rest);
    const spec = { containers: [], ...made.spec, nodeName };
    this.client.seed(pods, { ...made, spec });
  }

  /** What is left of machines, wherever it may be. */
  leaks(): typeof noLeaks {
    const ours = (object: { metadata: { labels?: Record<string, string> } }): boolean =>
      object.metadata.labels?.[labels.claimUid] !== undefined;
    const held = this.client
      .all(pods)
      .filter(({ metadata }) => metadata.finalizers?.includes(finalizers.kraftletPod));
    const ledgers = this.client.all(configMaps).filter((one) => !ours(one));
    return {
      claims: this.client.all(nodeClaims).length,
      instances: this.cloud.alive.length,
      records: this.dns.records.size + ofMachines(this.client).length,
      secrets: this.client.all(secrets).filter(ours).length,
      nodes: this.nodes.length,
      releases: releaseResources.flatMap((one) => this.client.all(one).filter(ours)).length,
      heldPods: held.length,
      reservations: ledgers.flatMap(({ data = {} }) => Object.keys(data)).length,
    };
  }

  #seed(spec: Partial<UnikraftNodeClassSpec> = {}): void {
    const { client, namespace } = this;
    const full = nodeClassSpec(spec);
    const resolved: ResolvedNodeClass = {
      nodeClass: 'default',
      spec: full,
      image: { id: 'ami-1', architecture: 'amd64', rootDeviceName: '/dev/xvda' },
      subnets: [
        { id: 'subnet-a', zone: 'eu-central-1a', zoneID: 'euc1-az2' },
        { id: 'subnet-b', zone: 'eu-central-1b', zoneID: 'euc1-az3' },
      ],
      securityGroups: ['sg-1'],
      dnsZoneID: 'Z1',
    };
    client.seed(unikraftNodeClasses, {
      metadata: { name: 'default' },
      spec: full,
      status: { currentRevision: revisionName },
    });
    const metadata = { name: revisionName, namespace };
    client.seed(controllerRevisions, { metadata, revision: 1, data: resolved });
    client.seed(nodePools, nodePool());
  }
}
