/**
 * What says which Pods belong together, for kube-scheduler's default spread. A cluster without one does not pay for
 * these: they are made, and run, only where the setting is on.
 */
import type { Informer } from '#kube/cache/informer.ts';
import { SharedInformer, type InformerOptions } from '#kube/cache/shared-informer.ts';
import type { KubeClient } from '#kube/client/client.ts';
import { at, dropped, message, shared, text, texts, word } from '#kube/shapes/shape.ts';
import type { ReplicaSet, ReplicationController, Service } from '#schemas/kubernetes/core.ts';
import type { KubeObject, ObjectMeta } from '#schemas/kubernetes/meta.ts';
import {
  replicaSets,
  replicationControllers,
  services,
  statefulSets,
} from '#schemas/kubernetes/resource.ts';

import { labelSelector } from '../../kept-rules.ts';

export interface SpreadCaches {
  readonly services: Informer<Service>;
  readonly replicationControllers: Informer<ReplicationController>;
  readonly replicaSets: Informer<ReplicaSet>;
  readonly statefulSets: Informer<ReplicaSet>;
}

type Options = Pick<InformerOptions<KubeObject>, 'clock' | 'log' | 'metrics'>;

/** Over a real API server; whoever makes them runs them. */
export function spreadInformers(client: KubeClient, options: Options): SpreadCaches {
  const { byLabels, bySelector } = kept;
  return {
    services: new SharedInformer<Service>(client, services, { ...options, kept: byLabels }),
    replicationControllers: new SharedInformer<ReplicationController>(
      client,
      replicationControllers,
      { ...options, kept: byLabels },
    ),
    replicaSets: new SharedInformer<ReplicaSet>(client, replicaSets, {
      ...options,
      kept: bySelector,
    }),
    statefulSets: new SharedInformer<ReplicaSet>(client, statefulSets, {
      ...options,
      kept: bySelector,
      name: 'statefulsets/spread', // those of Kraftlet have a cache of their own
    }),
  };
}

const metadata = message<ObjectMeta>({
  name: at(1, text),
  generateName: dropped,
  namespace: at(3, word),
  uid: at(5, text),
  resourceVersion: at(6, text),
  generation: dropped,
  creationTimestamp: dropped,
  deletionTimestamp: dropped,
  deletionGracePeriodSeconds: dropped,
  labels: dropped,
  annotations: dropped,
  finalizers: dropped,
  ownerReferences: dropped,
  managedFields: dropped,
});

/**
 * Who it is and whom it selects. The fields have the same numbers in both kinds of each.
 *
 * Numbers: k8s.io/api v0.37, core/v1 and apps/v1, generated.proto.
 */
export const kept = {
  byLabels: message<Service & ReplicationController>({
    apiVersion: dropped,
    kind: dropped,
    metadata: at(1, metadata),
    spec: at(2, message<NonNullable<Service['spec']>>({ selector: at(2, shared(texts())) })),
  }),
  bySelector: message<ReplicaSet>({
    apiVersion: dropped,
    kind: dropped,
    metadata: at(1, metadata),
    spec: at(
      2,
      message<NonNullable<ReplicaSet['spec']>>({ selector: at(2, shared(labelSelector)) }),
    ),
  }),
};
