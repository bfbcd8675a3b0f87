/** Where an instance is and what the cloud calls it. */
export interface ProviderID {
  readonly cloud: string;
  readonly region: string;
  readonly zone: string;
  readonly id: string;
}

const scheme = 'unikraft://';

/**
 * `unikraft://<cloud>/<region>/<zone>/<instance id>`: the project's own, never `aws://` or `gce://`, since a
 * cloud-controller-manager would judge those Nodes by its own list of instances.
 */
export function formatProviderID({ cloud, region, zone, id }: ProviderID): string {
  return `${scheme}${[cloud, region, zone, id].join('/')}`;
}

/** Undefined when it is not one of ours. */
export function parseProviderID(text: string): ProviderID | undefined {
  if (!text.startsWith(scheme)) return undefined;
  const [cloud, region, zone, id, ...more] = text.slice(scheme.length).split('/');
  if (!cloud || !region || !zone || !id || more.length > 0) return undefined;
  return { cloud, region, zone, id };
}
