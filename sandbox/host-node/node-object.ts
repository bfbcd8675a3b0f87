import { hostname } from 'node:os';

import type { Lease, Node, Taint } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';

import { POD_ADDRESS } from './field-ref.ts';

export interface NodeShape {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly allocatable: ResourceList;
}

/** Room for every Deployment of a sandbox: its programs are this computer's, and it counts nothing. */
export const PLENTY: ResourceList = {
  cpu: '64',
  memory: '256Gi',
  'ephemeral-storage': '1Ti',
  pods: '500',
};

/** The Node as it is created, and, by its status, as it is kept fresh. */
export function nodeObject(shape: NodeShape, now: string): Node {
  return {
    metadata: {
      name: shape.name,
      labels: {
        'kubernetes.io/hostname': shape.name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': process.arch === 'x64' ? 'amd64' : process.arch,
        ...shape.labels,
      },
    },
    spec: { taints: [...shape.taints] },
    status: {
      capacity: shape.allocatable,
      allocatable: shape.allocatable,
      addresses: [
        { type: 'InternalIP', address: POD_ADDRESS },
        { type: 'Hostname', address: shape.name },
      ],
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: `local programs on ${hostname()}`,
          lastTransitionTime: now,
        },
      ],
    },
  };
}

/** Renewed each 10 s, as a kubelet does; the controllers wait 50 s before they give a Node up. */
export const LEASE_SECONDS = 40;

export function nodeLease(name: string, uid: string, renewTime: string): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: 'kube-node-lease',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
  };
}
