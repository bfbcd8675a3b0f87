/**
 * What the controller's caches keep of claims, volumes, classes of storage and CSINodes: where a volume can be, whose it
 * is, and how many a node attaches. Capacities, parameters, mount options and secrets are nobody's business here.
 *
 * Numbers: k8s.io/api v0.37, core/v1 and storage/v1, generated.proto.
 */
import {
  at,
  dropped,
  list,
  message,
  number,
  only,
  shared,
  text,
  texts,
  time,
  within,
  word,
  type ObjectShape,
} from '#kube/shapes/shape.ts';
import type {
  CSINode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '#schemas/kubernetes/core.ts';
import type { ObjectMeta, OwnerReference } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';

import { nodeTerm } from './kept-rules.ts';

const none = {
  generateName: dropped,
  generation: dropped,
  creationTimestamp: dropped,
  deletionGracePeriodSeconds: dropped,
  labels: dropped,
  annotations: dropped,
  finalizers: dropped,
  ownerReferences: dropped,
  managedFields: dropped,
} as const;

const named = {
  name: at(1, text),
  namespace: at(3, word),
  uid: at(5, text),
  resourceVersion: at(6, text),
  deletionTimestamp: at(9, time),
};

const owner = message<OwnerReference>({
  apiVersion: at(5, word),
  kind: at(1, word),
  name: at(3, text),
  uid: at(4, text),
  controller: dropped,
  blockOwnerDeletion: dropped,
});

export const keptClaim: ObjectShape<PersistentVolumeClaim> = message<PersistentVolumeClaim>({
  apiVersion: dropped,
  kind: dropped,
  metadata: at(
    1,
    message<ObjectMeta>({
      ...none,
      ...named,
      annotations: at(12, only(annotations.bindCompleted)),
      ownerReferences: at(13, list(owner)),
    }),
  ),
  spec: at(
    2,
    message<NonNullable<PersistentVolumeClaim['spec']>>({
      volumeName: at(3, text),
      storageClassName: at(5, word),
    }),
  ),
  status: at(3, message<NonNullable<PersistentVolumeClaim['status']>>({ phase: at(1, word) })),
});

type VolumeSpec = NonNullable<PersistentVolume['spec']>;

const nothing = message<object>({});

export const keptVolume: ObjectShape<PersistentVolume> = message<PersistentVolume>({
  apiVersion: dropped,
  kind: dropped,
  metadata: at(1, message<ObjectMeta>({ ...none, ...named, labels: at(11, shared(texts())) })),
  spec: at(
    2,
    message<VolumeSpec>({
      gcePersistentDisk: within(2, 1, nothing),
      awsElasticBlockStore: within(2, 2, nothing),
      hostPath: within(2, 3, nothing),
      nfs: within(2, 5, nothing),
      iscsi: within(2, 7, nothing),
      cinder: within(2, 8, nothing),
      fc: within(2, 10, nothing),
      azureFile: within(2, 13, nothing),
      vsphereVolume: within(2, 14, nothing),
      azureDisk: within(2, 16, nothing),
      portworxVolume: within(2, 18, nothing),
      local: within(2, 20, nothing),
      csi: within(
        2,
        22,
        message<NonNullable<VolumeSpec['csi']>>({ driver: at(1, word), volumeHandle: dropped }),
      ),
      nodeAffinity: at(
        9,
        shared(
          message<NonNullable<VolumeSpec['nodeAffinity']>>({
            required: at(1, message({ nodeSelectorTerms: at(1, list(nodeTerm)) })),
          }),
        ),
      ),
    }),
  ),
  status: dropped,
});

type Topology = NonNullable<StorageClass['allowedTopologies']>[number];
type TopologyExpression = NonNullable<Topology['matchLabelExpressions']>[number];

export const keptClass: ObjectShape<StorageClass> = message<StorageClass>({
  apiVersion: dropped,
  kind: dropped,
  metadata: at(1, message<ObjectMeta>({ ...none, ...named })),
  provisioner: at(2, word),
  volumeBindingMode: at(7, word),
  allowedTopologies: at(
    8,
    list(
      message<Topology>({
        matchLabelExpressions: at(
          1,
          list(message<TopologyExpression>({ key: at(1, text), values: at(2, list(text)) })),
        ),
      }),
    ),
  ),
});

type Driver = NonNullable<CSINode['spec']>['drivers'][number];

export const keptCsiNode: ObjectShape<CSINode> = message<CSINode>({
  apiVersion: dropped,
  kind: dropped,
  metadata: at(1, message<ObjectMeta>({ ...none, ...named })),
  spec: at(
    2,
    message<NonNullable<CSINode['spec']>>({
      drivers: at(
        1,
        list(
          message<Driver>({
            name: at(1, word),
            allocatable: at(
              4,
              message<NonNullable<Driver['allocatable']>>({ count: at(1, number) }),
            ),
          }),
        ),
      ),
    }),
  ),
});
