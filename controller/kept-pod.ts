/**
 * What the controller's cache keeps of a Pod: of about 5 kB some 600 bytes are its own, and the rest it shares with its
 * like.
 *
 * Everything that placing, emptying and ending reads is here, and the compiler asks for a decision about each field
 * that the types gain. The cache's Pods are for reading: what is written is a patch, so nothing that is dropped here
 * is lost anywhere else.
 *
 * Numbers: k8s.io/api v0.37, core/v1/generated.proto, and k8s.io/apimachinery v0.37, pkg/apis/meta/v1/generated.proto.
 */
import {
  at,
  beside,
  dropped,
  flag,
  list,
  message,
  nonZero,
  number,
  oneOf,
  only,
  quantities,
  set,
  shared,
  template,
  text,
  texts,
  time,
  within,
  word,
} from '#kube/shapes/shape.ts';
import type {
  Container,
  ContainerStatus,
  MigratedSource,
  Pod,
  PodSpec,
  PodStatus,
  Toleration,
} from '#schemas/kubernetes/core.ts';
import type { Condition, ObjectMeta, OwnerReference } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';

import { affinity, spreadConstraint } from './kept-rules.ts';

const ownerReference = message<OwnerReference>({
  apiVersion: at(5, word),
  kind: at(1, word),
  name: at(3, text),
  uid: at(4, text),
  controller: at(6, flag),
  blockOwnerDeletion: at(7, flag),
});

const metadata = message<ObjectMeta>({
  name: at(1, text),
  generateName: dropped,
  namespace: at(3, word),
  uid: at(5, text),
  resourceVersion: at(6, text),
  generation: dropped,
  creationTimestamp: at(8, time),
  deletionTimestamp: at(9, time),
  deletionGracePeriodSeconds: at(10, number),
  labels: at(11, shared(texts())),
  annotations: at(12, only(annotations.doNotDisrupt, 'kubernetes.io/config.mirror')),
  finalizers: at(14, shared(list(text))),
  ownerReferences: at(13, shared(list(ownerReference))),
  managedFields: dropped,
});

type Resources = NonNullable<Container['resources']>;

const resources = message<Resources>({
  limits: at(1, quantities()),
  requests: at(2, quantities()),
});

const hostPort = message<NonNullable<Container['ports']>[number]>(
  {
    name: dropped,
    containerPort: at(3, number),
    hostPort: at(2, nonZero),
    hostIP: at(5, text),
    protocol: at(4, word),
  },
  'hostPort',
);

const container = message<Container>({
  name: at(1, word),
  image: dropped,
  command: dropped,
  args: dropped,
  env: dropped,
  ports: at(6, list(hostPort)),
  resources: at(8, shared(resources)),
  restartPolicy: at(24, word),
  volumeMounts: dropped,
});

interface Binding extends MigratedSource {
  name: string;
  persistentVolumeClaim?: { claimName?: string; readOnly?: boolean };
  ephemeral?: object;
  csi?: { driver?: string; readOnly?: boolean };
}

/** Storage that was built into Kubernetes once: which volume it is. */
const stored = <K extends string>(id: K, place: number) =>
  message<{ [key in K]?: string }>({ [id]: at(place, text) } as never);

/** Volumes that bind a Pod to a place; what is made for it where it is, such as its token, says nothing about that. */
const volume = message<Binding>(
  {
    name: at(1, text),
    persistentVolumeClaim: within(
      2,
      10,
      message<NonNullable<Binding['persistentVolumeClaim']>>({
        claimName: at(1, text),
        readOnly: at(2, set),
      }),
    ),
    ephemeral: within(2, 29, message<object>({})),
    csi: within(
      2,
      28,
      message<NonNullable<Binding['csi']>>({ driver: at(1, word), readOnly: at(2, flag) }),
    ),
    awsElasticBlockStore: within(2, 4, stored('volumeID', 1)),
    gcePersistentDisk: within(2, 3, stored('pdName', 1)),
    azureDisk: within(2, 22, stored('diskURI', 2)),
    azureFile: within(2, 18, stored('shareName', 2)),
    cinder: within(2, 13, stored('volumeID', 1)),
    vsphereVolume: within(2, 20, stored('volumePath', 1)),
    portworxVolume: within(2, 24, stored('volumeID', 1)),
  },
  'persistentVolumeClaim',
  'ephemeral',
  'csi',
  'awsElasticBlockStore',
  'gcePersistentDisk',
  'azureDisk',
  'azureFile',
  'cinder',
  'vsphereVolume',
  'portworxVolume',
);

const toleration = message<Toleration>({
  key: at(1, word),
  operator: at(2, word),
  value: at(3, text),
  effect: at(4, word),
  tolerationSeconds: at(5, number),
});

const named = message<{ name: string }>({ name: at(1, text) });

const spec = message<PodSpec>({
  containers: at(2, list(container)),
  initContainers: at(20, list(container)),
  nodeName: at(10, word),
  nodeSelector: at(7, shared(texts())),
  affinity: at(18, shared(affinity)),
  tolerations: at(22, shared(list(toleration))),
  topologySpreadConstraints: at(33, shared(list(spreadConstraint))),
  overhead: at(32, shared(quantities())),
  resources: at(40, shared(resources)),
  resourceClaims: at(39, shared(list(named))),
  priority: at(25, number),
  priorityClassName: at(24, word),
  preemptionPolicy: at(31, word),
  schedulerName: at(19, word),
  schedulingGates: at(38, shared(list(named))),
  serviceAccountName: dropped,
  terminationGracePeriodSeconds: at(4, number),
  hostNetwork: at(11, set),
  hostAliases: dropped,
  restartPolicy: at(3, word),
  os: at(36, named),
  volumes: at(1, list(volume)),
});

/** Why it is not placed, when it was, who takes it away, and whether it can be resized. */
const condition = message<Condition>({
  type: at(1, oneOf('PodScheduled', 'PodResizePending', 'DisruptionTarget')),
  status: at(2, word),
  reason: at(5, word),
  message: at(6, text),
  observedGeneration: dropped,
  lastTransitionTime: at(4, time),
});

type State = NonNullable<ContainerStatus['state']>;

const waiting = message<NonNullable<State['waiting']>>({
  reason: at(1, word),
  message: at(2, text),
});

/** What holds a container up, and what it has been given. */
const containerStatus = message<ContainerStatus>(
  {
    name: at(1, word),
    ready: dropped,
    restartCount: dropped,
    image: at(6, word),
    imageID: dropped,
    state: at(
      2,
      message<State>({ waiting: at(1, waiting), running: dropped, terminated: dropped }, 'waiting'),
    ),
    resources: at(11, shared(resources)),
    allocatedResources: at(10, shared(quantities())),
  },
  'state',
  'resources',
  'allocatedResources',
);

const status = message<PodStatus>({
  phase: at(1, word),
  reason: at(4, word),
  message: at(3, text),
  conditions: at(2, list(condition)),
  nominatedNodeName: at(11, word),
  startTime: dropped,
  podIP: dropped,
  hostIP: dropped,
  containerStatuses: at(8, list(containerStatus)),
  initContainerStatuses: at(10, list(containerStatus)),
});

export const keptPod = message<Pod>({
  apiVersion: beside(word),
  kind: beside(word),
  metadata: at(1, metadata),
  spec: at(2, template(spec, { apart: 'nodeName', holder: 'containers' })),
  status: at(3, status),
});
