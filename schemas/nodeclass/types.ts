/**
 * UnikraftNodeClass, karpenter.unikraft.com/v1alpha1: what one machine is made of.
 * unikraftnodeclass.schema.yaml is the source of the fields, docs/reference/unikraftnodeclass.md tells each.
 */
import type {
  UnikraftNodeClassSpec,
  UnikraftNodeClassStatus,
} from '../generated/unikraftnodeclass.ts';
import type { KubeObject } from '../kubernetes/meta.ts';
import { resource } from '../kubernetes/resource.ts';

export type {
  AwsSpec,
  BlockDevice,
  DnsSpec,
  GcpDisk,
  GcpSpec,
  ImageSelectorTerm,
  KraftletSpec,
  PlatformSpec,
  TsigSpec,
  SelectorTerm,
  UnikraftNodeClassSpec,
  UnikraftNodeClassStatus,
} from '../generated/unikraftnodeclass.ts';

export interface UnikraftNodeClass extends KubeObject {
  spec: UnikraftNodeClassSpec;
  status?: UnikraftNodeClassStatus;
}

export interface ResolvedImage {
  id: string;
  name?: string;
  architecture: 'amd64' | 'arm64';
  rootDeviceName: string;
  /** The only firmware it starts from; absent where it starts from what each size has. */
  bootMode?: 'uefi' | 'legacy-bios';
}

/**
 * What a ControllerRevision holds under `data`: the static part of the spec with everything that had to be looked
 * up. A claim stamped with a revision is launched, kept and unmade from this alone.
 */
export interface ResolvedNodeClass {
  nodeClass: string;
  spec: UnikraftNodeClassSpec;
  image: ResolvedImage;
  subnets: { id: string; zone: string; zoneID: string }[];
  securityGroups: string[];
  dnsZoneID: string;
  /** Fingerprint of the user's certificate, or authority, that machines get; absent where the operator makes its own. */
  certificate?: string;
}

export const unikraftNodeClasses = resource<UnikraftNodeClass>(
  'karpenter.unikraft.com/v1alpha1',
  'UnikraftNodeClass',
  'unikraftnodeclasses',
  'Cluster',
);
