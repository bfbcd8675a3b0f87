import type { Condition, KubeObject, LabelSelector, ObjectMeta, ResourceList } from './meta.ts';

/**
 * The fields of the core kinds that this project reads or writes. It is a subset by intent: the client hands
 * JSON through untouched, so a field that is not named here is kept, never lost.
 */

export interface Taint {
  key: string;
  value?: string;
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  timeAdded?: string;
}

export interface Toleration {
  key?: string;
  operator?: 'Exists' | 'Equal' | 'Gt' | 'Lt';
  value?: string;
  effect?: Taint['effect'];
  tolerationSeconds?: number;
}

export interface NodeSelectorRequirement {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt' | 'Gte' | 'Lte';
  values?: string[];
}

export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[];
  matchFields?: NodeSelectorRequirement[];
}

export interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: Record<string, unknown> }[];
  ports?: {
    name?: string;
    containerPort: number;
    hostPort?: number;
    hostIP?: string;
    protocol?: string;
  }[];
  resources?: { requests?: ResourceList; limits?: ResourceList };
  restartPolicy?: string;
  volumeMounts?: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[];
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: NodeSelectorTerm[] };
      preferredDuringSchedulingIgnoredDuringExecution?: {
        weight: number;
        preference: NodeSelectorTerm;
      }[];
    };
    podAffinity?: Record<string, unknown>;
    podAntiAffinity?: Record<string, unknown>;
  };
  tolerations?: Toleration[];
  topologySpreadConstraints?: Record<string, unknown>[];
  overhead?: ResourceList;
  resources?: { requests?: ResourceList; limits?: ResourceList };
  resourceClaims?: { name: string }[];
  priority?: number;
  priorityClassName?: string;
  preemptionPolicy?: string;
  schedulerName?: string;
  schedulingGates?: { name: string }[];
  serviceAccountName?: string;
  terminationGracePeriodSeconds?: number;
  hostNetwork?: boolean;
  hostAliases?: { ip: string; hostnames?: string[] }[];
  restartPolicy?: string;
  os?: { name: string };
  volumes?: ({ name: string } & Record<string, unknown>)[];
}

export interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  conditions?: Condition[];
  nominatedNodeName?: string;
  startTime?: string;
  podIP?: string;
  hostIP?: string;
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
}

export interface ContainerStatus {
  name: string;
  ready?: boolean;
  restartCount?: number;
  image?: string;
  imageID?: string;
  /** What its node has given it, from Kubernetes 1.33 on. */
  resources?: { requests?: ResourceList; limits?: ResourceList };
  allocatedResources?: ResourceList;
  state?: {
    waiting?: { reason?: string; message?: string };
    running?: { startedAt?: string };
    terminated?: { exitCode: number; reason?: string; message?: string };
  };
}

export interface Pod extends KubeObject {
  spec?: PodSpec;
  status?: PodStatus;
}

export interface Node extends KubeObject {
  spec?: { providerID?: string; taints?: Taint[]; unschedulable?: boolean };
  status?: {
    capacity?: ResourceList;
    allocatable?: ResourceList;
    conditions?: Condition[];
    addresses?: { type: string; address: string }[];
    nodeInfo?: Record<string, string>;
  };
}

export interface Namespace extends KubeObject {
  status?: { phase?: string };
}

export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  immutable?: boolean;
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

export interface Event extends KubeObject {
  involvedObject: {
    apiVersion?: string;
    kind?: string;
    name?: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    fieldPath?: string;
  };
  reason?: string;
  message?: string;
  type?: string;
  source?: { component?: string };
  firstTimestamp?: string;
  lastTimestamp?: string;
  count?: number;
  reportingComponent?: string;
}

export interface PodTemplateSpec {
  metadata?: ObjectMeta;
  spec: PodSpec;
}

export interface Service extends KubeObject {
  spec?: { selector?: Record<string, string> };
}

export interface ReplicationController extends KubeObject {
  spec?: { selector?: Record<string, string> };
}

export interface ReplicaSet extends KubeObject {
  spec?: { selector?: LabelSelector };
}

export interface DaemonSet extends KubeObject {
  spec?: { selector?: LabelSelector; template: PodTemplateSpec };
}

export interface StatefulSet extends KubeObject {
  spec?: {
    replicas?: number;
    serviceName?: string;
    selector?: LabelSelector;
    template: PodTemplateSpec;
  };
  status?: { replicas?: number; readyReplicas?: number; observedGeneration?: number };
}

export interface ControllerRevision extends KubeObject {
  revision: number;
  data?: unknown;
}

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export interface PodDisruptionBudget extends KubeObject {
  spec?: {
    selector?: LabelSelector;
    minAvailable?: string | number;
    maxUnavailable?: string | number;
    unhealthyPodEvictionPolicy?: string;
  };
  status?: { disruptionsAllowed?: number; currentHealthy?: number; desiredHealthy?: number };
}

export interface PersistentVolumeClaim extends KubeObject {
  spec?: { volumeName?: string; storageClassName?: string };
  status?: { phase?: string };
}

export interface PersistentVolume extends KubeObject {
  spec?: PersistentVolumeSource & {
    nodeAffinity?: { required?: { nodeSelectorTerms: NodeSelectorTerm[] } };
  };
  status?: { phase?: string };
}

/** Which storage a volume is of: one of these. */
export interface PersistentVolumeSource extends MigratedSource {
  csi?: { driver: string; volumeHandle?: string };
  hostPath?: object;
  local?: object;
  nfs?: object;
  iscsi?: object;
  fc?: object;
}

/** Storage that was built into Kubernetes once, and that a CSI driver serves now. */
export interface MigratedSource {
  awsElasticBlockStore?: { volumeID?: string };
  gcePersistentDisk?: { pdName?: string };
  azureDisk?: { diskURI?: string };
  azureFile?: { shareName?: string };
  cinder?: { volumeID?: string };
  vsphereVolume?: { volumePath?: string };
  portworxVolume?: { volumeID?: string };
}

export interface StorageClass extends KubeObject {
  provisioner: string;
  volumeBindingMode?: string;
  allowedTopologies?: { matchLabelExpressions?: { key: string; values: string[] }[] }[];
}

export interface CSINode extends KubeObject {
  spec?: { drivers: { name: string; allocatable?: { count?: number } }[] };
}
