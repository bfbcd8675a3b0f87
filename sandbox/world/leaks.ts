import { reservationsLabel } from '#controller/reservations/names.ts';
import type { KubeClient } from '#kube/client/client.ts';
import { configMaps, nodes, pods, secrets, statefulSets } from '#schemas/kubernetes/resource.ts';
import { finalizers, labels } from '#schemas/names.ts';

import type { World } from './world.ts';

/** What is left of machines; all zero when every claim is gone. */
export interface Leaks {
  readonly instances: number;
  readonly records: number;
  readonly volumes: number;
  readonly secrets: number;
  readonly nodes: number;
  readonly releases: number;
  readonly stuckPods: number;
  readonly reservations: number;
  /** Machines and Kraftlets that still run. */
  readonly processes: number;
}

const namespace = 'karpenter-unikraft';

/** Counts what is there now, in the cloud, in the cluster and on this computer. */
export async function leaksOf({ cloud, client, run }: World): Promise<Leaks> {
  const { instances, records, volumes } = cloud.leaks();
  const ofMachines = { labelSelector: labels.claimUid };
  const [credentials, ourNodes, releases, held, reservations] = await Promise.all([
    client.list(secrets, ofMachines),
    client.list(nodes, { labelSelector: labels.nodeClass }),
    client.list(statefulSets, ofMachines),
    stuckPods(client),
    reservationsIn(client),
  ]);
  return {
    instances,
    records,
    volumes,
    secrets: credentials.items.length,
    nodes: ourNodes.items.length,
    releases: releases.items.length,
    stuckPods: held,
    reservations,
    processes: run.processes.filter(({ name }) => /^machine-|^kraftlet_/.test(name)).length,
  };
}

export function isClean(leaks: Leaks): boolean {
  return Object.values(leaks).every((count) => count === 0);
}

/** Pods that Kraftlet's finalizer still holds: nobody is left to take it off. */
async function stuckPods(client: KubeClient): Promise<number> {
  const { items } = await client.list(pods);
  return items.filter(({ metadata }) => metadata.finalizers?.includes(finalizers.kraftletPod))
    .length;
}

async function reservationsIn(client: KubeClient): Promise<number> {
  const { items } = await client.list(configMaps, { namespace, labelSelector: reservationsLabel });
  return items.reduce((sum, { data = {} }) => sum + Object.keys(data).length, 0);
}
