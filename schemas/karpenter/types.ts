/**
 * Karpenter's karpenter.sh/v1 objects as upstream v1.15 has them (pkg/apis/v1/nodepool.go, nodeclaim.go).
 * Fields that older served schemas lack are optional here, and the fields we do not read are kept by the client.
 */
import type { NodeSelectorRequirement, Taint } from '../kubernetes/core.ts';
import type { Condition, KubeObject, ObjectMeta, ResourceList } from '../kubernetes/meta.ts';
import { resource } from '../kubernetes/resource.ts';

export interface NodeClassRef {
  group: string;
  kind: string;
  name: string;
}

export interface Requirement extends NodeSelectorRequirement {
  minValues?: number;
}

/** What a NodePool's template and a NodeClaim have in common. */
export interface MachineTemplate {
  nodeClassRef: NodeClassRef;
  requirements: Requirement[];
  taints?: Taint[];
  startupTaints?: Taint[];
  /** `720h`, or `Never`. */
  expireAfter?: string;
  terminationGracePeriod?: string;
}

export type DisruptionReason = 'Underutilized' | 'Empty' | 'Drifted' | 'Unhealthy';

export interface Budget {
  reasons?: DisruptionReason[];
  /** A count, or a percentage of the pool's nodes. */
  nodes: string;
  schedule?: string;
  duration?: string;
}

export interface NodePool extends KubeObject {
  spec: {
    template: {
      metadata?: Pick<ObjectMeta, 'labels' | 'annotations'>;
      spec: MachineTemplate;
    };
    disruption?: {
      consolidationPolicy?: 'WhenEmpty' | 'WhenEmptyOrUnderutilized' | 'Balanced';
      consolidateAfter?: string;
      budgets?: Budget[];
    };
    limits?: ResourceList;
    weight?: number;
    replicas?: number;
  };
  status?: {
    resources?: ResourceList;
    nodes?: number;
    nodeClassObservedGeneration?: number;
    conditions?: Condition[];
  };
}

export interface NodeClaim extends KubeObject {
  spec: MachineTemplate & { resources?: { requests?: ResourceList } };
  status?: {
    nodeName?: string;
    providerID?: string;
    imageID?: string;
    capacity?: ResourceList;
    allocatable?: ResourceList;
    conditions?: Condition[];
    lastPodEventTime?: string;
  };
}

export const nodePools = resource<NodePool>('karpenter.sh/v1', 'NodePool', 'nodepools', 'Cluster');
export const nodeClaims = resource<NodeClaim>(
  'karpenter.sh/v1',
  'NodeClaim',
  'nodeclaims',
  'Cluster',
);
