/** Whole objects for rules to be tried on, with one thing changed at a time. They break no rule by themselves. */
import type {
  Budget,
  MachineTemplate,
  NodeClaim,
  NodeClassRef,
  NodePool,
  Requirement,
} from '../karpenter/types.ts';
import type { Container, Pod, PodSpec, Taint } from '../kubernetes/core.ts';
import type { ObjectMeta } from '../kubernetes/meta.ts';
import { group, labels, nodeClassKind, taints } from '../names.ts';
import type { UnikraftNodeClass, UnikraftNodeClassSpec } from '../nodeclass/types.ts';

const ourClass = (): NodeClassRef => ({ group, kind: nodeClassKind, name: 'default' });

export function requirement(
  key: string,
  operator: Requirement['operator'],
  ...values: string[]
): Requirement {
  return { key, operator, ...(values.length > 0 && { values }) };
}

export function capacityType(operator: Requirement['operator'], ...values: string[]): Requirement {
  return requirement(labels.capacityType, operator, ...values);
}

export function taint(key: string, effect: Taint['effect'], value?: string): Taint {
  return { key, effect, ...(value !== undefined && { value }) };
}

export function pool(
  requirements: Requirement[],
  templateLabels: Record<string, string> = {},
  template: Partial<MachineTemplate> = {},
): NodePool {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'sample' },
    spec: {
      template: {
        metadata: { labels: templateLabels },
        spec: { nodeClassRef: ourClass(), requirements, ...template },
      },
      disruption: { consolidateAfter: '5m' },
      limits: { cpu: '100' },
    },
  };
}

/** A pool with another spec beside its template; undefined leaves a field out. */
export function poolWith(changes: {
  [K in keyof Omit<NodePool['spec'], 'template'>]: NodePool['spec'][K] | undefined;
}): NodePool {
  const sample = pool([]);
  const spec = Object.entries({ ...sample.spec, ...changes }).filter(
    ([, value]) => value !== undefined,
  );
  return { ...sample, spec: Object.fromEntries(spec) as unknown as NodePool['spec'] };
}

export function poolWithBudgets(...budgets: Budget[]): NodePool {
  return poolWith({ disruption: { consolidateAfter: '5m', budgets } });
}

export function claim(
  requirements: Requirement[],
  template: Partial<MachineTemplate> = {},
): NodeClaim {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'sample' },
    spec: { nodeClassRef: ourClass(), requirements, ...template },
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

/** The class with other cloud settings. */
export function awsClass(
  changes: Partial<NonNullable<UnikraftNodeClassSpec['aws']>>,
): UnikraftNodeClass {
  const { aws } = nodeClass().spec;
  return aws ? nodeClass({ aws: { ...aws, ...changes } }) : nodeClass();
}

/** A class for Google Cloud, with other settings of it. */
export function gcpClass(
  changes: Partial<NonNullable<UnikraftNodeClassSpec['gcp']>> = {},
  rest: Partial<UnikraftNodeClassSpec> = {},
): UnikraftNodeClass {
  const sample = nodeClass();
  const { aws: _, ...spec } = sample.spec;
  return {
    ...sample,
    spec: {
      ...spec,
      gcp: {
        project: 'machines-1234',
        region: 'europe-west1',
        subnetwork: 'machines',
        ...changes,
      },
      image: { selectorTerms: [{ family: 'unikraft-platform', owner: 'unikraft-images' }] },
      dns: { provider: 'CloudDNS', zone: 'machines.example.com' },
      ...rest,
    },
  };
}

export function container(changes: Partial<Container> & Record<string, unknown> = {}): Container {
  const size = { cpu: '1', memory: '128Mi' };
  return {
    name: 'main',
    image: 'registry.example.com/app:1',
    resources: { requests: size, limits: size },
    ...changes,
  };
}

/** A Pod of a ReplicaSet that is aimed at our nodes as an injected one is. */
export function pod(
  spec: Partial<PodSpec> & Record<string, unknown> = {},
  metadata: ObjectMeta = {},
): Pod {
  const { key, value, effect } = taints.kraftlet;
  const { nodeSelector, ...others } = spec;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'sample',
      namespace: 'default',
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'sample', uid: 'a', controller: true },
      ],
      ...metadata,
    },
    spec: {
      nodeSelector: { [labels.virtualKubelet]: 'true', ...nodeSelector },
      tolerations: [{ key, operator: 'Equal', value, effect }],
      containers: [container()],
      ...others,
    },
  };
}
