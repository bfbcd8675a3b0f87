import type { KubeClient } from '#kube/client/client.ts';
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
} from '#kube/client/errors.ts';
import { plainName } from '#machine/dns/changes.ts';
import {
  asksFor,
  dnsEndpoints,
  endpointOf,
  isOf,
  isRead,
  type DnsEndpoint,
} from '#machine/dns/externaldns/endpoint.ts';
import type {
  AddressRecord,
  DnsProvider,
  RecordHolder,
  RecordOwner,
} from '#machine/dns/provider.ts';
import { DnsConflict, NodeClassError } from '#machine/errors.ts';
import { faults } from '#machine/faults.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import type { Key } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';

/** Never made: what is asked for with it is only whether it could be. */
const probe: RecordHolder = {
  clusterUid: '00000000-0000-0000-0000-000000000000',
  claim: 'kpu-check',
  claimUid: '00000000-0000-0000-0000-000000000000',
};

/**
 * Names that external-dns writes: it is asked by a DNSEndpoint per machine in the operator's namespace, and keeps its own
 * ownership in the zone, by which it leaves records of others alone. No right to any DNS service is needed for it.
 */
export class ExternalDns implements DnsProvider {
  readonly isDelegated = true;
  readonly #client: KubeClient;
  readonly #namespace: string;

  constructor(client: KubeClient, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** Proves, by a rehearsal, that DNSEndpoints are served and may be made. Who holds the zone, external-dns knows. */
  async resolveZone(zone: string, _: string | undefined, signal: AbortSignal): Promise<string> {
    const name = plainName(zone);
    const record = { name: `kpu-check.${name}`, address: '192.0.2.1', ttl: 60 };
    const object = endpointOf([record], probe, this.#namespace);
    await this.#client
      .create(dnsEndpoints, object, { dryRun: true, signal })
      .catch((error: unknown) => this.#refused(error));
    return name;
  }

  async upsert(
    _: string,
    records: readonly AddressRecord[],
    owner: RecordHolder,
    signal: AbortSignal,
  ): Promise<void> {
    const wanted = endpointOf(records, owner, this.#namespace);
    const found = (await this.#find(owner.claim, signal)) ?? (await this.#make(wanted, signal));
    if (!isOf(found, owner)) throw this.#conflict(found);
    if (asksFor(found, wanted)) return;
    const { resourceVersion } = found.metadata;
    const body = { metadata: { resourceVersion }, spec: wanted.spec };
    await this.#client
      .patch(dnsEndpoints, found.metadata, { type: 'merge', body }, { signal })
      .catch((error: unknown) => this.#refused(error));
  }

  /** All that was made for the machine; without the kind nothing is left of it. */
  async remove(
    _: string,
    __: readonly string[],
    { claimUid }: RecordOwner,
    signal: AbortSignal,
  ): Promise<void> {
    const labelSelector = `${labels.claimUid}=${claimUid}`;
    const options = { namespace: this.#namespace, labelSelector, signal };
    const found = await this.#client.list(dnsEndpoints, options).catch(unlessAbsent);
    await Promise.all(
      (found?.items ?? []).map(async ({ metadata }) =>
        this.#client
          .delete(dnsEndpoints, metadata, { uid: metadata.uid, signal })
          .catch((error: unknown) => {
            if (!isConflict(error)) unlessAbsent(error); // another one has its name
          }),
      ),
    );
  }

  async hindrance({ claim }: RecordHolder, signal: AbortSignal): Promise<string> {
    const found = await this.#find(claim, signal);
    const name = `DNSEndpoint ${this.#namespace}/${claim}`;
    if (found && isRead(found)) return `external-dns has read ${name}, so its log says why`;
    return `external-dns has not read ${name}: does it run with the source crd, and see this namespace?`;
  }

  /** Or whichever was made under its name in the same moment. */
  async #make(wanted: DnsEndpoint, signal: AbortSignal): Promise<Live<DnsEndpoint>> {
    return this.#client.create(dnsEndpoints, wanted, { signal }).catch(async (error: unknown) => {
      const name = wanted.metadata?.name ?? '';
      const other = isAlreadyExists(error) ? await this.#find(name, signal) : undefined;
      return other ?? this.#refused(error);
    });
  }

  async #find(name: string, signal: AbortSignal): Promise<Live<DnsEndpoint> | undefined> {
    const key: Key = { namespace: this.#namespace, name };
    return this.#client
      .get(dnsEndpoints, key, { signal })
      .catch((error: unknown) => (isNotFound(error) ? undefined : this.#refused(error)));
  }

  #conflict({ metadata }: DnsEndpoint): DnsConflict {
    return new DnsConflict(
      `DNSEndpoint ${this.#namespace}/${metadata?.name} was not made for this machine; remove it, unless another ` +
        'machine has just had the name.',
    );
  }

  /** What only a person can help about, as such. */
  #refused(error: unknown): never {
    if (isNotFound(error)) {
      const what = 'The cluster serves no DNSEndpoint (externaldns.k8s.io/v1alpha1)';
      const fix = "install external-dns' CRD, or choose another spec.dns.provider";
      throw new NodeClassError(faults.endpointsUnknown, `${what}; ${fix}.`, { cause: error });
    }
    if (!isRefusal(error)) throw error;
    const what = `A DNSEndpoint in namespace ${this.#namespace} is refused: ${error.text}`;
    throw new NodeClassError(faults.endpointsRefused, what, { cause: error });
  }
}

function unlessAbsent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** By rights, by the kind's schema, or by a webhook, which may also not know what a rehearsal is. */
function isRefusal(error: unknown): error is ApiError {
  return (
    isForbidden(error) || isInvalid(error) || (error instanceof ApiError && error.code === 400)
  );
}
