/** What stands around a cloud's instances: their names, the platform that answers on them, and Kraftlet's chart. */
import type {
  AddressRecord,
  DnsProvider,
  NameLookup,
  OwnedName,
  RecordOwner,
} from '#machine/dns/provider.ts';
import { DnsConflict, PlatformUnauthorized, PlatformUnavailable } from '#machine/errors.ts';
import type { KraftletReleases, ReleaseRequest } from '#machine/kraftlet/release.ts';
import type { PlatformEndpoint } from '#machine/machine.ts';
import type { HealthCheck, PlatformApi } from '#machine/platform/api.ts';
import type { PlatformQuotas } from '#schemas/instances/instance-type.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';
import type { Duration } from '#schemas/time/clock.ts';

import type { FakeCloud } from './fake-cloud.ts';

/** A zone, and the resolvers that see it. */
export class FakeDns implements DnsProvider, NameLookup {
  /** For how long servers remember that a name is not there. */
  remembered: Duration | undefined;
  readonly records = new Map<string, { address: string; owner: string; cluster?: string }>();
  upsertFailure: Error | undefined;
  removeFailure: Error | undefined;
  lookupFailure: Error | undefined;
  ownedFailure: Error | undefined;
  /** Names are written and not yet seen by anybody. */
  isSlow = false;

  async resolveZone(zone: string): Promise<string> {
    return `id-of-${zone}`;
  }

  async upsert(_: string, records: readonly AddressRecord[], owner: RecordOwner): Promise<void> {
    if (this.upsertFailure) throw this.upsertFailure;
    for (const { name, address } of records) {
      const present = this.records.get(name);
      if (present && present.owner !== owner.claimUid) throw new DnsConflict(`${name} is taken`);
      this.records.set(name, { address, owner: owner.claimUid, cluster: owner.clusterUid });
    }
  }

  async remove(_: string, names: readonly string[], { claimUid }: RecordOwner): Promise<void> {
    if (this.removeFailure) throw this.removeFailure;
    for (const name of names) {
      if (this.records.get(name)?.owner === claimUid) this.records.delete(name);
    }
  }

  async owned(_: string, clusterUid: string): Promise<readonly OwnedName[]> {
    if (this.ownedFailure) throw this.ownedFailure;
    return [...this.records]
      .filter(([, { cluster }]) => cluster === clusterUid)
      .map(([name, { owner: claimUid, address }]) => ({
        name,
        owner: { clusterUid, claimUid },
        addresses: [address],
      }));
  }

  async absence(): Promise<Duration | undefined> {
    return this.remembered;
  }

  async lookup(name: string): Promise<readonly string[]> {
    if (this.lookupFailure) throw this.lookupFailure;
    const record = this.isSlow ? undefined : this.records.get(name);
    return record ? [record.address] : [];
  }
}

/** The platform API of every machine of a cloud; it knows only what user data told it. */
export class FakePlatform implements PlatformApi {
  readonly #cloud: FakeCloud;
  status: HealthCheck['status'] = 'healthy';
  /** Addresses that answer nothing, though their instances run. */
  readonly silent = new Set<string>();
  /** What it allows in place of what it was told. */
  allows: Partial<PlatformQuotas> = {};

  constructor(cloud: FakeCloud) {
    this.#cloud = cloud;
  }

  async health(endpoint: PlatformEndpoint): Promise<readonly HealthCheck[]> {
    this.#told(endpoint);
    return [{ name: 'node-health', status: this.status }];
  }

  async quotas(endpoint: PlatformEndpoint): Promise<PlatformQuotas> {
    return { ...this.#told(endpoint).quotas, ...this.allows };
  }

  #told({ address, token }: PlatformEndpoint): { quotas: PlatformQuotas } {
    const instance = this.#cloud.at(address);
    if (!instance || this.silent.has(address))
      throw new PlatformUnavailable(`connect ECONNREFUSED ${address}`);
    const [, content = ''] = /content: (".*")/.exec(instance.request.userData) ?? [];
    const machine = JSON.parse(JSON.parse(content) as string) as {
      users: { token: string; quotas: PlatformQuotas }[];
    };
    const user = machine.users.find((one) => one.token === token);
    if (!user) throw new PlatformUnauthorized('the token is not known here');
    return user;
  }
}

/** Where {@link FakeReleases} keeps the request, for the Kraftlet that the StatefulSet stands for. */
export const requestAnnotation = 'testing/release-request';

/** A chart with the kinds that every Kraftlet release has. */
export class FakeReleases implements KraftletReleases {
  isBusy = false;
  renderFailure: Error | undefined;

  async render(request: ReleaseRequest): Promise<readonly KubeObject[]> {
    if (this.renderFailure) throw this.renderFailure;
    const { name, claimUid } = request.identity;
    const namespace = request.kraftlet.namespace ?? 'kraftlet';
    const common = { name, labels: { [labels.claimUid]: claimUid } };
    const part = (apiVersion: string, kind: string, spec?: object): KubeObject => ({
      apiVersion,
      kind,
      metadata: { ...common, namespace },
      ...(spec && { spec }),
    });
    const set = part('apps/v1', 'StatefulSet', { replicas: 1 });
    const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' };
    return [
      { ...binding, metadata: common },
      part('v1', 'Secret'),
      part('v1', 'ServiceAccount'),
      part('v1', 'ConfigMap'),
      part('v1', 'Service'),
      part('policy/v1', 'PodDisruptionBudget'),
      {
        ...set,
        metadata: {
          ...set.metadata,
          annotations: { [requestAnnotation]: JSON.stringify(request) },
        },
      },
    ];
  }

  async probe(): Promise<void> {
    await Promise.resolve();
  }
}
