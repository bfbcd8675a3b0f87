/** What a case is made of, on either cloud. */
import { googleZone, machineZone } from '#sandbox/cloud/cloud.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';
import type { UnikraftNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';
import { nodeClass, nodePool, optedInPod } from '#test/world/objects.ts';

export type Cloud = 'aws' | 'gcp';

/** Machines have an address of the world's too, which has to go with them. */
const addressType = 'External';

/** A node class of this name for each cloud. */
export function classOf(
  cloud: Cloud,
  spec: Partial<UnikraftNodeClassSpec> = {},
): UnikraftNodeClass {
  if (cloud === 'aws') {
    const dns = { provider: 'Route53', zone: machineZone, addressType } as const;
    return nodeClass({ dns, ...patient, ...spec }, cloud);
  }
  const { aws: _, ...rest } = nodeClass().spec;
  const gcp = {
    project: 'sandbox-project',
    region: 'europe-west1',
    network: 'default',
    subnetwork: 'machines',
  };
  const image = { selectorTerms: [{ family: 'unikraft-platform', owner: 'unikraft-images' }] };
  const dns = { provider: 'CloudDNS', zone: googleZone, addressType } as const;
  const own = { ...rest, gcp, image, dns, ...patient, ...spec };
  return { ...nodeClass({}, cloud), spec: own };
}

/** A machine that is held for longer than it may take would end by its deadline instead. */
const patient: Partial<UnikraftNodeClassSpec> = { deadlines: { launch: '30m' } };

/** A pool for one machine. */
export function poolOf(name: string, cloud: Cloud): NodePool {
  return nodePool({ name, nodeClass: cloud });
}

/** What the pool becomes before its machine is removed: the Pod that leaves gets no other one. */
export function closedPool(name: string, cloud: Cloud): NodePool {
  return nodePool({ name, nodeClass: cloud, limits: { nodes: '1' } });
}

/** The one Pod of a pool. */
export function podOf(name: string): Pod {
  const nodeSelector = { [labels.virtualKubelet]: 'true', [labels.nodePool]: name };
  return optedInPod(`${name}-pod`, { cpu: '1' }, { nodeSelector });
}
