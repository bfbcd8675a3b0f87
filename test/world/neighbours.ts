/** What another Karpenter provider has in the same cluster, as it would look with its own operator at work. */
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import { annotations, finalizers, labels, taints } from '#schemas/names.ts';

/** The same name as our node class: only group and kind tell them apart. */
const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
const providerID = 'aws:///eu-central-1a/i-0123456789abcdef0';
const node = 'ip-10-0-1-23.eu-central-1.compute.internal';
const own = { [labels.nodePool]: 'aws', 'karpenter.k8s.aws/ec2nodeclass': 'default' };
const capacity = { cpu: '8', memory: '16Gi', pods: '58' };

/** Removes what empties at once, has only so much left, and would let nothing be older than an hour. */
export function neighboursPool(): NodePool {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'aws' },
    spec: {
      template: { spec: { nodeClassRef, requirements: [], expireAfter: '1h' } },
      limits: { cpu: '8' },
      disruption: {
        consolidationPolicy: 'WhenEmpty',
        consolidateAfter: '0s',
        budgets: [{ nodes: '100%' }],
      },
    },
  };
}

/** A machine that runs and is empty; its status is to be written by {@link neighboursStatus}. */
export function neighboursClaim(name: string): NodeClaim {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, labels: own, finalizers: [finalizers.termination] },
    spec: { nodeClassRef, requirements: [], expireAfter: '1h', terminationGracePeriod: '1m' },
  };
}

export function neighboursStatus(now: string): NonNullable<NodeClaim['status']> {
  return {
    nodeName: node,
    providerID,
    capacity,
    allocatable: capacity,
    conditions: ['Launched', 'Registered', 'Initialized', 'Ready'].map((type) => ({
      type,
      status: 'True',
      reason: type,
      message: '',
      lastTransitionTime: now,
    })),
  };
}

/** Empty, and closed for its removal as both providers close Nodes. */
export function neighboursNode(): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node,
      labels: { ...own, [labels.registered]: 'true', [labels.initialized]: 'true' },
      annotations: { [annotations.nodePoolHash]: '1234' },
      finalizers: [finalizers.termination],
    },
    spec: { providerID, taints: [taints.disrupted] },
  };
}
