import type { Logger } from '#kube/log.ts';
import type { EventNote } from '#kube/runtime/events.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import {
  configMaps,
  controllerRevisions,
  csiNodes,
  daemonSets,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  statefulSets,
  storageClasses,
} from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { unikraftQuotaPolicies } from '#schemas/quotapolicy/types.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { addIndexes } from '../caches.ts';
import type { Context } from '../context.ts';
import { keptPod } from '../kept-pod.ts';
import { keptClaim, keptClass, keptCsiNode, keptVolume } from '../kept-volumes.ts';
import { reservationsLabel } from '../reservations/names.ts';
import { pricesConfigMap } from '../settings.ts';
import { MemoryClient } from './memory-client.ts';
import { MemoryInformer } from './memory-informer.ts';

const silent: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silent,
};

/** Every cache of a controller over one in-memory API, with all indexes. */
export function memoryCaches(client: MemoryClient, clock: FakeClock, namespace: string) {
  const caches = {
    pods: new MemoryInformer(client, pods, clock, { kept: keptPod }),
    nodes: new MemoryInformer(client, nodes, clock),
    namespaces: new MemoryInformer(client, namespaces, clock),
    nodeClaims: new MemoryInformer(client, nodeClaims, clock),
    nodePools: new MemoryInformer(client, nodePools, clock),
    nodeClasses: new MemoryInformer(client, unikraftNodeClasses, clock),
    quotaPolicies: new MemoryInformer(client, unikraftQuotaPolicies, clock),
    daemonSets: new MemoryInformer(client, daemonSets, clock),
    podDisruptionBudgets: new MemoryInformer(client, podDisruptionBudgets, clock),
    persistentVolumeClaims: new MemoryInformer(client, persistentVolumeClaims, clock, {
      kept: keptClaim,
    }),
    persistentVolumes: new MemoryInformer(client, persistentVolumes, clock, { kept: keptVolume }),
    storageClasses: new MemoryInformer(client, storageClasses, clock, { kept: keptClass }),
    csiNodes: new MemoryInformer(client, csiNodes, clock, { kept: keptCsiNode }),
    revisions: new MemoryInformer(client, controllerRevisions, clock, { namespace }),
    statefulSets: new MemoryInformer(client, statefulSets, clock, {
      labelSelector: labels.claimUid,
    }),
    reservations: new MemoryInformer(client, configMaps, clock, {
      namespace,
      labelSelector: reservationsLabel,
    }),
    prices: new MemoryInformer(client, configMaps, clock, {
      namespace,
      fieldSelector: `metadata.name=${pricesConfigMap}`,
    }),
  };
  addIndexes(caches);
  return caches;
}

/**
 * A context in which nothing is real: the API is in memory, time stands still, events are kept in `notes`.
 *
 * @example const { context, client, clock, notes } = memoryContext();
 */
export function memoryContext(options: { client?: MemoryClient; clock?: FakeClock } = {}) {
  const clock = options.clock ?? new FakeClock();
  const client = options.client ?? new MemoryClient(clock);
  const namespace = 'karpenter-unikraft';
  const notes: EventNote[] = [];
  const recorder = { record: (note: EventNote): void => void notes.push(note) };
  const caches = memoryCaches(client, clock, namespace);
  const base = { client, caches, recorder, clock, log: silent, namespace };
  const context: Context = { ...base, clusterUid: '00000000-0000-4000-8000-00000000c1a5' };
  return { context, client, clock, caches, notes, namespace };
}
