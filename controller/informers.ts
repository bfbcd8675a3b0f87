import { OptionalInformer } from '#kube/cache/optional-informer.ts';
import { SharedInformer } from '#kube/cache/shared-informer.ts';
import type { KubeClient } from '#kube/client/client.ts';
import type { Logger } from '#kube/log.ts';
import type { Metrics } from '#kube/metrics.ts';
import type { ObjectShape } from '#kube/shapes/shape.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
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
  type Resource,
} from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { unikraftQuotaPolicies } from '#schemas/quotapolicy/types.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { addIndexes, type Caches } from './caches.ts';
import { keptPod } from './kept-pod.ts';
import { keptClaim, keptClass, keptCsiNode, keptVolume } from './kept-volumes.ts';
import { reservationsLabel } from './reservations/names.ts';

export interface InformerParts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The operator's own. */
  readonly namespace: string;
  /** Name of the ConfigMap that prices may be set in. */
  readonly pricesConfigMap: string;
}

interface Scope<T> {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly name?: string;
  readonly kept?: ObjectShape<T>;
}

/** The caches over a real API server, with their indexes; whoever makes them runs them. */
export function informers(parts: InformerParts): Caches {
  const { client, clock, log, metrics, namespace, pricesConfigMap } = parts;
  const informer = <T extends KubeObject>(resource: Resource<T>, scope: Scope<T> = {}) =>
    new SharedInformer(client, resource, { clock, log, metrics, ...scope });
  const readable = <T extends KubeObject>(resource: Resource<T>, kept: ObjectShape<T>) =>
    new OptionalInformer(informer(resource, { kept }), { ...parts, mayBeForbidden: true });
  const caches = {
    pods: informer(pods, { kept: keptPod }),
    nodes: informer(nodes),
    namespaces: informer(namespaces),
    nodeClaims: informer(nodeClaims),
    nodePools: informer(nodePools),
    nodeClasses: informer(unikraftNodeClasses),
    quotaPolicies: new OptionalInformer(informer(unikraftQuotaPolicies), parts),
    daemonSets: informer(daemonSets),
    podDisruptionBudgets: informer(podDisruptionBudgets),
    persistentVolumeClaims: readable(persistentVolumeClaims, keptClaim),
    persistentVolumes: readable(persistentVolumes, keptVolume),
    storageClasses: readable(storageClasses, keptClass),
    csiNodes: readable(csiNodes, keptCsiNode),
    revisions: informer(controllerRevisions, { namespace }),
    statefulSets: informer(statefulSets, { labelSelector: labels.claimUid }),
    reservations: informer(configMaps, { namespace, labelSelector: reservationsLabel }),
    prices: informer(configMaps, {
      namespace,
      fieldSelector: `metadata.name=${pricesConfigMap}`,
      name: 'configmaps/prices',
    }),
  };
  addIndexes(caches);
  return caches;
}
