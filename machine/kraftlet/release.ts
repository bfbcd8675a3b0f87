import type { Taint } from '#schemas/kubernetes/core.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import type { KraftletSpec } from '#schemas/nodeclass/types.ts';

import type { MachineIdentity, PlatformEndpoint } from '../machine.ts';

export interface ReleaseRequest {
  readonly identity: MachineIdentity;
  readonly kraftlet: KraftletSpec;
  readonly endpoint: PlatformEndpoint;
  readonly providerID: string;
  readonly architecture: 'amd64' | 'arm64';
  /** Immutable facts only: node class, zone, type, exclude-from-load-balancers. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** The one taint the Node is born with. */
  readonly nodeTaint: Taint;
  /** Names that are in no DNS. */
  readonly hostAliases: readonly HostAlias[];
}

/** Names of one address, as a Pod's hosts file has them. */
export interface HostAlias {
  readonly ip: string;
  readonly hostnames: readonly string[];
}

/**
 * Renders the Kraftlet chart for one machine with the real `helm` binary and makes it ours: kinds outside the
 * allow-list are refused (KraftletChartRefused), the vendor's ClusterRole is replaced by a binding to the one that
 * kustomize/rbac ships, the StatefulSet trusts the CA, every object carries the labels of the machine.
 */
export interface KraftletReleases {
  /**
   * So many are being rendered that another had better wait its turn elsewhere: who waits inside a pass keeps a worker
   * that a launch could have.
   */
  readonly isBusy: boolean;
  /** The objects to apply, in order; namespace and names are deterministic for an identity. */
  render(request: ReleaseRequest, signal: AbortSignal): Promise<readonly KubeObject[]>;
  /** Renders with stand-in values; throws NodeClassError when the chart cannot be had or holds what is not allowed. */
  probe(kraftlet: KraftletSpec, signal: AbortSignal): Promise<void>;
}
