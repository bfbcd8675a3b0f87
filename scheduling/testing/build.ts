/** Short ways to say what a test is about; everything else is as plain as can be. */
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import { labelsOf } from '#schemas/instances/labels.ts';
import type { NodePool, Requirement } from '#schemas/karpenter/types.ts';
import type {
  DaemonSet,
  NodeSelectorRequirement,
  Pod,
  PodSpec,
  Taint,
  Toleration,
} from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { group, nodeClassKind, taints } from '#schemas/names.ts';

import type { NodeInSight, PoolInSight, Problem } from '../solver.ts';

export const toKraftlet: Toleration = { key: taints.kraftlet.key, operator: 'Exists' };

/** A Pod that tolerates Kraftlet's taint. */
export function pod(
  name: string,
  requests: ResourceList = { cpu: '1' },
  spec: Partial<PodSpec> = {},
): Pod {
  return {
    metadata: { namespace: 'shop', name },
    spec: {
      containers: [{ name: 'app', resources: { requests } }],
      tolerations: [toKraftlet],
      ...spec,
    },
  };
}

export const pods = (count: number, requests?: ResourceList, spec?: Partial<PodSpec>): Pod[] =>
  Array.from({ length: count }, (_, index) => pod(`p${index}`, requests, spec));

/** The Pod's node must have all of these. */
export function mustBe(...matchExpressions: NodeSelectorRequirement[]): Partial<PodSpec> {
  return mayBe(matchExpressions);
}

/** The Pod's node must have all of one of these. */
export function mayBe(...terms: (readonly NodeSelectorRequirement[])[]): Partial<PodSpec> {
  const nodeSelectorTerms = terms.map((term) => ({ matchExpressions: [...term] }));
  return {
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    },
  };
}

/** The Pod takes a port of its host. */
export function hostPort(port: number, hostIP?: string, protocol = 'TCP'): Partial<PodSpec> {
  const where = hostIP === undefined ? {} : { hostIP };
  const ports = [{ containerPort: 80, hostPort: port, protocol, ...where }];
  return { containers: [{ name: 'app', ports }] };
}

/** A size that advertises so many vCPUs, 4 GiB each and 100 Pods, at 0.1 USD for each vCPU, in zones 1a and 1b. */
export function size(
  vcpus: number,
  parts: { zones?: string[]; available?: boolean; price?: number } = {},
): InstanceType {
  const { zones = ['1a', '1b'], available = true, price = vcpus / 10 } = parts;
  const name = `m.${vcpus}`;
  const machine = {
    name,
    family: 'm',
    vcpus,
    memoryMiB: vcpus * 4096,
    architecture: 'amd64',
    metal: false,
    nested: true,
  } as const;
  return {
    name,
    machine,
    offerings: zones.map((zone) => ({ zone, zoneID: zone, price, priceDerived: false, available })),
    capacity: { cpu: `${vcpus}`, memory: `${vcpus * 4}Gi`, pods: '100' },
    labels: labelsOf(machine),
  };
}

export interface PoolParts {
  limits?: ResourceList;
  remaining?: ResourceList;
  weight?: number;
  labels?: Record<string, string>;
  taints?: Taint[];
  requirements?: Requirement[];
  sizes?: InstanceType[];
}

export function pool(name: string, parts: PoolParts = {}): PoolInSight {
  const {
    limits,
    weight,
    labels = {},
    requirements = [],
    sizes = [size(2), size(4), size(8)],
  } = parts;
  const nodePool: NodePool = {
    metadata: { name },
    spec: {
      template: {
        metadata: { labels },
        spec: {
          nodeClassRef: { group, kind: nodeClassKind, name: 'default' },
          requirements,
          ...(parts.taints ? { taints: parts.taints } : {}),
        },
      },
      ...(limits ? { limits } : {}),
      ...(weight === undefined ? {} : { weight }),
    },
  };
  return { pool: nodePool, instanceTypes: sizes, remaining: parts.remaining ?? limits ?? {} };
}

export function node(
  name: string,
  allocatable: ResourceList,
  parts: Partial<NodeInSight> = {},
): NodeInSight {
  const all = { pods: '100', ...allocatable };
  return {
    name,
    kind: 'node',
    labels: {},
    taints: [taints.kraftlet],
    allocatable: all,
    requested: {},
    ...parts,
  };
}

export function daemonSet(requests: ResourceList, spec: Partial<PodSpec> = {}): DaemonSet {
  return {
    metadata: { name: 'agent' },
    spec: { template: { spec: pod('', requests, spec).spec ?? { containers: [] } } },
  };
}

export function problem(parts: Partial<Problem>): Problem {
  return { pods: [], nodes: [], pools: [], daemonSets: [], ...parts };
}
