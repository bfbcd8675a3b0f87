/** UnikraftNodeClass, karpenter.unikraft.com/v1alpha1: what one machine is made of. docs/reference/unikraftnodeclass.md tells each field. */
import type { Condition, KubeObject } from '../kubernetes/meta.ts';
import { resource } from '../kubernetes/resource.ts';

/** Tags (value `*` = any), id or name; the parts of one term all hold, any term is enough. */
export interface SelectorTerm {
  tags?: Record<string, string>;
  id?: string;
  name?: string;
}

export interface ImageSelectorTerm extends SelectorTerm {
  /** Account id, or `self`, `amazon`. */
  owner?: string;
}

export interface BlockDevice {
  deviceName?: string;
  volumeSize: string;
  volumeType?: string;
  iops?: number;
  throughput?: number;
  encrypted?: boolean;
  kmsKeyID?: string;
}

export interface AwsSpec {
  region: string;
  subnetSelectorTerms: SelectorTerm[];
  securityGroupSelectorTerms: SelectorTerm[];
  instanceProfile?: string;
  assumeRoleARN?: string;
  capacityReservationPreference?: 'open' | 'none' | 'capacity-reservations-only';
  blockDevices?: BlockDevice[];
}

export interface PlatformSpec {
  overhead?: { vcpus?: number; memory?: string };
  capacity?: {
    /** Whole vCPUs, or a percentage of the machine less overhead. */
    vcpus?: string | number;
    memory?: string;
    volumeStorage?: string;
    instances?: number;
  };
  activationSecretRef?: { name: string; key?: string };
  config?: Record<string, string>;
  imagePulls?: string[];
  advertiseStorage?: boolean;
  port?: number;
}

export interface DnsSpec {
  provider: 'Route53';
  zone: string;
  zoneID?: string;
  /** Go-style template over `{{node}}` and `{{zone}}`; `api.{{node}}.{{zone}}` when absent. */
  nameTemplate?: string;
  addressType?: 'Internal' | 'External';
  appZone?: string;
  /** Seconds. */
  ttl?: number;
}

export interface CertificateSpec {
  api: {
    mode: 'PrivateCA';
    /** The Secret (tls.crt, tls.key) that signs leaves; made by the operator when absent. */
    caSecretRef?: { name: string };
    duration?: string;
  };
}

export interface KraftletSpec {
  /** `oci://…`, or a path inside the controller's image. */
  chart: string;
  version?: string;
  namespace?: string;
  values?: Record<string, unknown>;
}

export interface UnikraftNodeClassSpec {
  aws?: AwsSpec;
  image: { id?: string; selectorTerms?: ImageSelectorTerm[] };
  platform?: PlatformSpec;
  dns: DnsSpec;
  certificate: CertificateSpec;
  kraftlet: KraftletSpec;
  deadlines?: { launch?: string; healthy?: string; registration?: string };
  tags?: Record<string, string>;
}

export interface UnikraftNodeClassStatus {
  observedGeneration?: number;
  conditions?: Condition[];
  image?: { id: string; name?: string; architecture: string };
  subnets?: { id: string; zone: string; zoneID?: string }[];
  securityGroups?: { id: string; name?: string }[];
  /** ControllerRevision that new machines are made from: the newest one that resolved. */
  currentRevision?: string;
  /** ControllerRevision of the newest spec. */
  updateRevision?: string;
  machines?: number;
  /** How what a platform advertised differed from what was predicted. */
  capacityCorrections?: {
    revision: string;
    instanceType: string;
    vcpus: number;
    memoryMiB: number;
    instances: number;
  }[];
}

export interface UnikraftNodeClass extends KubeObject {
  spec: UnikraftNodeClassSpec;
  status?: UnikraftNodeClassStatus;
}

/**
 * What a ControllerRevision holds under `data`: the static part of the spec with everything that had to be looked
 * up. A claim stamped with a revision is launched, kept and unmade from this alone.
 */
export interface ResolvedNodeClass {
  nodeClass: string;
  spec: UnikraftNodeClassSpec;
  image: { id: string; name?: string; architecture: 'amd64' | 'arm64'; rootDeviceName: string };
  subnets: { id: string; zone: string; zoneID: string }[];
  securityGroups: string[];
  dnsZoneID: string;
}

export const unikraftNodeClasses = resource<UnikraftNodeClass>(
  'karpenter.unikraft.com/v1alpha1',
  'UnikraftNodeClass',
  'unikraftnodeclasses',
  'Cluster',
);
