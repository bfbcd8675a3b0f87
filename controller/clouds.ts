import type { CloudProvider } from '#machine/cloud/provider.ts';
import type { DnsProvider } from '#machine/dns/provider.ts';
import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

/**
 * The clouds and DNS services that node classes ask for. An SDK is loaded when the first node class needs it, and
 * one adapter serves all node classes, so its caches are shared.
 */
export interface Clouds {
  /** @throws when the spec names no cloud, which validation keeps from getting this far */
  for(spec: UnikraftNodeClassSpec): Promise<CloudProvider>;
  dns(spec: UnikraftNodeClassSpec): Promise<DnsProvider>;
}
