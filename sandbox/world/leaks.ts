import { releaseResources } from '#controller/nodeclaim/kraftlet/release.ts';
import { reservationsLabel } from '#controller/reservations/names.ts';
import type { KubeClient } from '#kube/client/client.ts';
import { configMaps, nodes, pods, secrets } from '#schemas/kubernetes/resource.ts';
import { finalizers, labels } from '#schemas/names.ts';

import type { World } from './world.ts';

/** What is left of machines; all zero when every claim is gone. */
export interface Leaks {
  readonly instances: number;
  readonly volumes: number;
  readonly addresses: number;
  readonly records: number;
  /** TXT records. */
  readonly texts: number;
  readonly secrets: number;
  readonly nodes: number;
  /** Objects of Kraftlet releases, beside their Secrets. */
  readonly releases: number;
  readonly stuckPods: number;
  readonly reservations: number;
  /** Machines and Kraftlets that still run. */
  readonly processes: number;
}

const namespace = 'karpenter-unikraft';

/** Counts what is there now, in the cloud, in the cluster and on this computer. */
export async function leaksOf({ cloud, client, run }: World): Promise<Leaks> {
  const { machines: _, ...inClouds } = cloud.leaks();
  const ofMachines = { labelSelector: labels.claimUid };
  const [credentials, ourNodes, releases, held, reservations] = await Promise.all([
    client.list(secrets, ofMachines),
    client.list(nodes, { labelSelector: labels.nodeClass }),
    releaseObjects(client),
    stuckPods(client),
    reservationsIn(client),
  ]);
  return {
    ...inClouds,
    secrets: credentials.items.length,
    nodes: ourNodes.items.length,
    releases,
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

async function releaseObjects(client: KubeClient): Promise<number> {
  const kinds = releaseResources.filter(({ plural }) => plural !== secrets.plural);
  const labelSelector = labels.claimUid;
  const lists = await Promise.all(kinds.map(async (kind) => client.list(kind, { labelSelector })));
  return lists.reduce((sum, { items }) => sum + items.length, 0);
}

async function reservationsIn(client: KubeClient): Promise<number> {
  const { items } = await client.list(configMaps, { namespace, labelSelector: reservationsLabel });
  return items.reduce((sum, { data = {} }) => sum + Object.keys(data).length, 0);
}
