/** Objects as they are in a cluster, for stories: whatever a test does not speak of is plausible and the same. */
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Condition } from '#schemas/kubernetes/meta.ts';
import { group, labels, nodeClassKind, taints } from '#schemas/names.ts';
import type { UnikraftNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

export const ourRef = { group, kind: nodeClassKind, name: 'default' };
/** Some other Karpenter provider's. */
export const foreignRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };

export function nodeClassSpec(spec: Partial<UnikraftNodeClassSpec> = {}): UnikraftNodeClassSpec {
  return {
    aws: {
      region: 'eu-central-1',
      subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
      securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
    },
    image: { selectorTerms: [{ name: 'unikraft-platform-*', owner: '123456789012' }] },
    dns: { provider: 'Route53', zone: 'machines.example.com' },
    certificate: { api: { mode: 'PrivateCA' } },
    kraftlet: { chart: 'oci://registry.example.com/charts/kraftlet', version: '0.6.0' },
    ...spec,
  };
}

export function nodeClass(
  spec: Partial<UnikraftNodeClassSpec> = {},
  name = 'default',
): UnikraftNodeClass {
  return { metadata: { name }, spec: nodeClassSpec(spec) };
}

export function nodePool(spec: Partial<NodePool['spec']> = {}, name = 'web'): NodePool {
  return {
    metadata: { name },
    spec: { template: { spec: { nodeClassRef: ourRef, requirements: [] } }, ...spec },
  };
}

export function condition(
  type: string,
  status: Condition['status'] = 'True',
  rest: Partial<Condition> = {},
): Condition {
  return { type, status, reason: type, message: '', observedGeneration: 1, ...rest };
}

/** A claim of a pool, without a Node. */
export function nodeClaim(name: string, claim: Partial<NodeClaim> = {}, pool = 'web'): NodeClaim {
  return {
    metadata: {
      name,
      labels: { [labels.nodePool]: pool, [labels.capacityType]: 'on-demand' },
      finalizers: ['karpenter.sh/termination'],
      ...claim.metadata,
    },
    spec: { nodeClassRef: ourRef, requirements: [], ...claim.spec },
    ...(claim.status && { status: claim.status }),
  };
}

export const providerIDOf = (claim: string): string =>
  `unikraft://aws/eu-central-1/eu-central-1a/i-${claim}`;

/** A claim whose Node, of the same name, is ready since `since`. */
export function runningMachine(
  name: string,
  since: string,
  pool = 'web',
): { claim: NodeClaim; node: Node } {
  const capacity = { cpu: '6', memory: '28672Mi', pods: '1000' };
  const at = { lastTransitionTime: since };
  const claim = nodeClaim(
    name,
    {
      status: {
        nodeName: name,
        providerID: providerIDOf(name),
        capacity,
        allocatable: capacity,
        conditions: [condition('Initialized', 'True', at), condition('Ready', 'True', at)],
      },
    },
    pool,
  );
  const node: Node = {
    metadata: { name, labels: { [labels.nodePool]: pool, [labels.nodeClass]: 'default' } },
    spec: { providerID: providerIDOf(name), taints: [taints.kraftlet] },
    status: { capacity, allocatable: capacity, conditions: [condition('Ready')] },
  };
  return { claim, node };
}

export function pod(name: string, rest: Partial<Pod> = {}): Pod {
  return {
    metadata: { name, namespace: 'shop', ...rest.metadata },
    spec: { containers: [{ name: 'main' }], ...rest.spec },
    status: { phase: 'Running', ...rest.status },
  };
}
