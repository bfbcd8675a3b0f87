import {
  replicaSets,
  replicationControllers,
  services,
  statefulSets,
} from '#schemas/kubernetes/resource.ts';
import type { Clock } from '#schemas/time/clock.ts';

import type { MemoryClient } from '../../../testing/memory-client.ts';
import { MemoryInformer } from '../../../testing/memory-informer.ts';
import { kept, type SpreadCaches } from '../caches.ts';

const { byLabels, bySelector } = kept;

/** The caches over an API in memory. */
export function memorySpreadCaches(client: MemoryClient, clock: Clock): SpreadCaches {
  return {
    services: new MemoryInformer(client, services, clock, { kept: byLabels }),
    replicationControllers: new MemoryInformer(client, replicationControllers, clock, {
      kept: byLabels,
    }),
    replicaSets: new MemoryInformer(client, replicaSets, clock, { kept: bySelector }),
    statefulSets: new MemoryInformer(client, statefulSets, clock, { kept: bySelector }),
  };
}
