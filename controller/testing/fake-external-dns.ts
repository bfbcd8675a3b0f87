import { dnsEndpoints, type DnsEndpoint } from '#machine/dns/externaldns/endpoint.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';

import type { FakeDns } from './fake-machines.ts';
import type { MemoryClient } from './memory-client.ts';

/** external-dns before a zone, as far as a DNSEndpoint is concerned: it reads on each look, and writes what it may. */
export class FakeExternalDns {
  readonly #client: MemoryClient;
  readonly #dns: FakeDns;
  /** It does not run, or does not see the namespace. */
  isAway = false;
  /** `--policy=upsert-only`. */
  removesNothing = false;

  constructor(client: MemoryClient, dns: FakeDns) {
    this.#client = client;
    this.#dns = dns;
  }

  act(): void {
    if (this.isAway) return;
    const endpoints = this.#client.all(dnsEndpoints);
    if (!this.removesNothing) this.#clear(endpoints);
    for (const endpoint of endpoints) this.#write(endpoint);
  }

  #clear(endpoints: readonly DnsEndpoint[]): void {
    const wanted = new Set(endpoints.flatMap(({ spec }) => spec.endpoints.map(nameOf)));
    for (const [name, { owner }] of this.#dns.records) {
      if (owner === 'external-dns' && !wanted.has(name)) this.#dns.records.delete(name);
    }
  }

  #write(endpoint: Live<DnsEndpoint>): void {
    for (const { dnsName, targets } of endpoint.spec.endpoints) {
      const isFree = (this.#dns.records.get(dnsName)?.owner ?? 'external-dns') === 'external-dns';
      const [address = ''] = targets;
      if (isFree) this.#dns.records.set(dnsName, { address, owner: 'external-dns' });
    }
    const observedGeneration = endpoint.metadata.generation ?? 0;
    if (endpoint.status?.observedGeneration === observedGeneration) return;
    this.#client.seed(dnsEndpoints, { ...endpoint, status: { observedGeneration } });
  }
}

const nameOf = ({ dnsName }: { dnsName: string }): string => dnsName;

/** DNSEndpoints that were made for machines. */
export function ofMachines(client: MemoryClient): Live<DnsEndpoint>[] {
  return client.all(dnsEndpoints).filter((one) => one.metadata.labels?.[labels.claimUid]);
}
