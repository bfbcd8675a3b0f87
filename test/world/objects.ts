/** Objects of the stories; what a test does not speak of is plausible and the same. */
import { fileURLToPath } from 'node:url';

import { machineZone } from '#sandbox/cloud/cloud.ts';
import { platformPort } from '#sandbox/world/installation.ts';
import type { NodeClaim, NodePool, Requirement } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject, ResourceList } from '#schemas/kubernetes/meta.ts';
import { group, labels, nodeClassKind, taints } from '#schemas/names.ts';
import type { UnikraftNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

export const chart = fileURLToPath(new URL('../../sandbox/kraftlet/chart', import.meta.url));

const discovery = { tags: { 'karpenter.sh/discovery': 'sandbox' } };

/** A node class that works in the sandbox's cloud. */
export function nodeClass(
  spec: Partial<UnikraftNodeClassSpec> = {},
  name = 'default',
): UnikraftNodeClass {
  return {
    apiVersion: `${group}/v1alpha1`,
    kind: nodeClassKind,
    metadata: { name },
    spec: {
      aws: {
        region: 'eu-central-1',
        subnetSelectorTerms: [discovery],
        securityGroupSelectorTerms: [discovery],
      },
      image: { selectorTerms: [{ name: 'unikraft-platform-*', owner: '123456789012' }] },
      platform: { port: platformPort },
      dns: { provider: 'Route53', zone: machineZone },
      certificate: { api: { mode: 'PrivateCA' } },
      kraftlet: { chart, namespace: 'kraftlet' },
      ...spec,
    },
  };
}

export interface PoolShape {
  readonly name?: string;
  readonly nodeClass?: string;
  readonly requirements?: Requirement[];
  readonly limits?: ResourceList;
  readonly template?: Partial<NodePool['spec']['template']['spec']>;
  readonly disruption?: NodePool['spec']['disruption'];
}

/** A pool of machines with four vCPUs (two of them for Pods) that are kept when they empty. */
export function nodePool(shape: PoolShape = {}): NodePool {
  const { name = 'web', requirements = [vcpus(4)], limits, disruption } = shape;
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group, kind: nodeClassKind, name: shape.nodeClass ?? 'default' },
          requirements,
          ...shape.template,
        },
      },
      ...(limits && { limits }),
      disruption: disruption ?? { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' },
    },
  };
}

export function vcpus(count: number): Requirement {
  return { key: labels.instanceVcpus, operator: 'In', values: [String(count)] };
}

export function size(instanceType: string): Requirement {
  return { key: labels.instanceType, operator: 'In', values: [instanceType] };
}

/** A Pod that opts in by hand, as the webhook would have it. */
export function optedInPod(
  name: string,
  requests: ResourceList,
  more: Partial<Pod['spec']> = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      containers: [{ name: 'app', image: 'nginx:1.29', resources: { requests } }],
      nodeSelector: { [labels.virtualKubelet]: 'true' },
      tolerations: [{ ...taints.kraftlet, operator: 'Equal' }],
      terminationGracePeriodSeconds: 1,
      ...more,
    },
  };
}

/** Pods that opt in, kept at a number; labelled `app` with the workload's name. */
export function workload(
  kind: 'Deployment' | 'StatefulSet',
  name: string,
  replicas: number,
  requests: ResourceList = { cpu: '1' },
): KubeObject {
  const matchLabels = { app: name };
  const { spec } = optedInPod(name, requests);
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels },
      ...(kind === 'StatefulSet' && { serviceName: name, podManagementPolicy: 'Parallel' }),
      template: { metadata: { labels: matchLabels }, spec },
    },
  } as KubeObject;
}

/** A claim that a person makes, without a pool. */
export function standaloneClaim(
  name: string,
  requirements: Requirement[] = [vcpus(4)],
  nodeClassName = 'default',
): NodeClaim {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name },
    spec: { nodeClassRef: { group, kind: nodeClassKind, name: nodeClassName }, requirements },
  };
}
