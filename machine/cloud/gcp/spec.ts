import type { UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

/** Where machines run in Google Cloud. */
export interface GcpSpec {
  project: string;
  region: string;
  /** Absent: all of the region. */
  zones?: string[];
  network?: string;
  /** Name in the project and region, or `projects/<host project>/regions/<region>/subnetworks/<name>`. */
  subnetwork: string;
  serviceAccount?: string;
  networkTags?: string[];
  disks?: GcpDisk[];
  /** In place of the families that are known. */
  nestedVirtualizationFamilies?: string[];
}

export interface GcpDisk {
  size: string;
  type?: string;
  iops?: number;
  throughput?: number;
  kmsKeyName?: string;
}

/** @throws Error for a class without `gcp`, which the schema keeps from getting this far */
export function gcpOf(spec: UnikraftNodeClassSpec): GcpSpec {
  const { gcp } = spec as { gcp?: GcpSpec };
  if (!gcp) throw new Error('This node class is not for Google Cloud: spec.gcp is missing');
  return gcp;
}
