import type {
  ControllerRevision,
  ConfigMap,
  CSINode,
  DaemonSet,
  Event,
  Lease,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ReplicationController,
  Secret,
  Service,
  StatefulSet,
  StorageClass,
} from './core.ts';
import type { KubeObject } from './meta.ts';

/**
 * Where a kind lives in the API, and, as a type only, what its objects look like.
 *
 * @example client.get(pods, { namespace: 'default', name: 'web-0' }) // Promise<Live<Pod>>
 */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Lower-case, as in the URL. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set; ties the descriptor to its type. */
  readonly shape?: T;
}

/** Namespace and name of an object; cluster-scoped objects have no namespace. */
export interface Key {
  readonly namespace?: string;
  readonly name: string;
}

export function resource<T extends KubeObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  scope: 'Namespaced' | 'Cluster',
): Resource<T> {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return { group, version, kind, plural, namespaced: scope === 'Namespaced' };
}

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key that caches and queues use. */
export function keyText({ namespace, name }: Key): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

export const pods = resource<Pod>('v1', 'Pod', 'pods', 'Namespaced');
export const nodes = resource<Node>('v1', 'Node', 'nodes', 'Cluster');
export const namespaces = resource<Namespace>('v1', 'Namespace', 'namespaces', 'Cluster');
export const secrets = resource<Secret>('v1', 'Secret', 'secrets', 'Namespaced');
export const configMaps = resource<ConfigMap>('v1', 'ConfigMap', 'configmaps', 'Namespaced');
export const events = resource<Event>('v1', 'Event', 'events', 'Namespaced');
export const services = resource<Service>('v1', 'Service', 'services', 'Namespaced');
export const replicationControllers = resource<ReplicationController>(
  'v1',
  'ReplicationController',
  'replicationcontrollers',
  'Namespaced',
);
export const serviceAccounts = resource<KubeObject>(
  'v1',
  'ServiceAccount',
  'serviceaccounts',
  'Namespaced',
);
export const replicaSets = resource<ReplicaSet>(
  'apps/v1',
  'ReplicaSet',
  'replicasets',
  'Namespaced',
);
export const daemonSets = resource<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets', 'Namespaced');
export const statefulSets = resource<StatefulSet>(
  'apps/v1',
  'StatefulSet',
  'statefulsets',
  'Namespaced',
);
export const controllerRevisions = resource<ControllerRevision>(
  'apps/v1',
  'ControllerRevision',
  'controllerrevisions',
  'Namespaced',
);
export const persistentVolumeClaims = resource<PersistentVolumeClaim>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
  'Namespaced',
);
export const persistentVolumes = resource<PersistentVolume>(
  'v1',
  'PersistentVolume',
  'persistentvolumes',
  'Cluster',
);
export const storageClasses = resource<StorageClass>(
  'storage.k8s.io/v1',
  'StorageClass',
  'storageclasses',
  'Cluster',
);
export const csiNodes = resource<CSINode>('storage.k8s.io/v1', 'CSINode', 'csinodes', 'Cluster');
export const leases = resource<Lease>('coordination.k8s.io/v1', 'Lease', 'leases', 'Namespaced');
export const podDisruptionBudgets = resource<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
  'Namespaced',
);
export const clusterRoleBindings = resource<KubeObject>(
  'rbac.authorization.k8s.io/v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
  'Cluster',
);
export const customResourceDefinitions = resource<KubeObject>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  'Cluster',
);
