/**
 * What external-dns is asked for: one DNSEndpoint per machine, with all names of the machine.
 *
 * Source: external-dns, externaldns.k8s.io/v1alpha1, as its source `crd` reads it; it tells in `status` which generation
 * it has read last, and nothing of what it then wrote.
 */
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { resource } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';

import { plainName } from '../changes.ts';
import type { AddressRecord, RecordHolder, RecordOwner } from '../provider.ts';

export interface DnsEndpoint extends KubeObject {
  spec: { endpoints: Endpoint[] };
  status?: { observedGeneration?: number };
}

/** One record set. */
export interface Endpoint {
  dnsName: string;
  recordType: string;
  targets: string[];
  /** Seconds. */
  recordTTL?: number;
}

export const dnsEndpoints = resource<DnsEndpoint>(
  'externaldns.k8s.io/v1alpha1',
  'DNSEndpoint',
  'dnsendpoints',
  'Namespaced',
);

/** The DNSEndpoint of a machine. Its claim does not own it, or names would go before the Pods do (ADR 30). */
export function endpointOf(
  records: readonly AddressRecord[],
  { claim, claimUid }: RecordHolder,
  namespace: string,
): DnsEndpoint {
  return {
    metadata: {
      name: claim,
      namespace,
      labels: { [labels.claimUid]: claimUid },
    },
    spec: { endpoints: records.map(recordOf) },
  };
}

function recordOf({ name, address, ttl }: AddressRecord): Endpoint {
  const recordType = address.includes(':') ? 'AAAA' : 'A';
  return { dnsName: plainName(name), recordType, targets: [address], recordTTL: ttl };
}

/** Whether it was made for the machine of this claim. */
export function isOf({ metadata }: DnsEndpoint, { claimUid }: RecordOwner): boolean {
  return metadata?.labels?.[labels.claimUid] === claimUid;
}

/** Whether it asks for the same; external-dns itself adds to an endpoint what it finds out about it. */
export function asksFor({ spec }: DnsEndpoint, wanted: DnsEndpoint): boolean {
  return essence(spec) === essence(wanted.spec);
}

/** Whether external-dns has read it as it is now. */
export function isRead({ metadata, status }: DnsEndpoint): boolean {
  return (
    status?.observedGeneration !== undefined && status.observedGeneration === metadata?.generation
  );
}

function essence({ endpoints }: DnsEndpoint['spec']): string {
  const all = endpoints.map(({ dnsName, recordType, targets, recordTTL }) =>
    JSON.stringify([dnsName, recordType, targets, recordTTL]),
  );
  return all.toSorted().join();
}
