/** Whole objects for rules to be tried on, with one thing changed at a time. */
import type { NodeClaim, NodeClassRef, NodePool, Requirement } from '../karpenter/types.ts';
import { group, labels, nodeClassKind } from '../names.ts';
import type { UnikraftNodeClass, UnikraftNodeClassSpec } from '../nodeclass/types.ts';

const ourClass = (): NodeClassRef => ({ group, kind: nodeClassKind, name: 'default' });

export function capacityType(operator: Requirement['operator'], ...values: string[]): Requirement {
  return { key: labels.capacityType, operator, ...(values.length > 0 && { values }) };
}

export function pool(
  requirements: Requirement[],
  templateLabels: Record<string, string> = {},
): NodePool {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'sample' },
    spec: {
      template: {
        metadata: { labels: templateLabels },
        spec: { nodeClassRef: ourClass(), requirements },
      },
    },
  };
}

export function claim(requirements: Requirement[]): NodeClaim {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'sample' },
    spec: { nodeClassRef: ourClass(), requirements },
  };
}

export function nodeClass(changes: Partial<UnikraftNodeClassSpec> = {}): UnikraftNodeClass {
  return {
    apiVersion: `${group}/v1alpha1`,
    kind: nodeClassKind,
    metadata: { name: 'sample' },
    spec: {
      aws: {
        region: 'eu-central-1',
        subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
        securityGroupSelectorTerms: [{ name: 'machines' }],
      },
      image: { selectorTerms: [{ name: 'unikraft-platform-*', owner: '123456789012' }] },
      dns: { provider: 'Route53', zone: 'machines.example.com' },
      certificate: { api: { mode: 'PrivateCA' } },
      kraftlet: { chart: 'oci://registry.example.com/charts/kraftlet', version: '0.6.0' },
      ...changes,
    },
  };
}
