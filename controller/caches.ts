import type { Informer } from '#kube/cache/informer.ts';
import type { MaybeForbidden } from '#kube/cache/optional-informer.ts';
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type {
  ConfigMap,
  ControllerRevision,
  CSINode,
  DaemonSet,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  StatefulSet,
  StorageClass,
} from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';
import type { UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import type { UnikraftQuotaPolicy } from '#schemas/quotapolicy/types.ts';

/** The local copies that all controllers share. Objects in them are read-only. */
export interface Caches {
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly namespaces: Informer<Namespace>;
  readonly nodeClaims: Informer<NodeClaim>;
  readonly nodePools: Informer<NodePool>;
  readonly nodeClasses: Informer<UnikraftNodeClass>;
  /** Empty where the CRD is not installed. */
  readonly quotaPolicies: Informer<UnikraftQuotaPolicy>;
  readonly daemonSets: Informer<DaemonSet>;
  readonly podDisruptionBudgets: Informer<PodDisruptionBudget>;
  /** Empty where older roles do not let the controller read them, and so are the next three. */
  readonly persistentVolumeClaims: Informer<PersistentVolumeClaim> & MaybeForbidden;
  readonly persistentVolumes: Informer<PersistentVolume> & MaybeForbidden;
  readonly storageClasses: Informer<StorageClass> & MaybeForbidden;
  readonly csiNodes: Informer<CSINode>;
  /** Those of the operator's namespace. */
  readonly revisions: Informer<ControllerRevision>;
  /** Those labelled with a claim's UID: Kraftlet releases. */
  readonly statefulSets: Informer<StatefulSet>;
  /** Reservations only, by label, in the operator's namespace. */
  readonly reservations: Informer<ConfigMap>;
  /** The one that prices may be set in, by name, in the operator's namespace; empty where there is none. */
  readonly prices: Informer<ConfigMap>;
}

/** Names of the indexes that {@link addIndexes} adds. */
export const by = {
  /** Pods by the node they are bound to. */
  node: 'node',
  providerID: 'providerID',
  /** Claims and pools by the name of their UnikraftNodeClass. */
  nodeClass: 'nodeClass',
  nodePool: 'nodePool',
  /** Anything labelled with the claim it was made for. */
  claimUid: 'claimUid',
  /** Claims by their own UID. */
  uid: 'uid',
} as const;

/** Adds the indexes that controllers look things up by; call once, before the caches start. */
export function addIndexes(caches: Caches): void {
  caches.pods.addIndex(by.node, (pod) => one(pod.spec?.nodeName));
  caches.pods.addIndex(by.claimUid, (pod) => one(pod.metadata.labels?.[labels.claimUid]));
  caches.nodes.addIndex(by.providerID, (node) => one(node.spec?.providerID));
  caches.nodes.addIndex(by.nodePool, (node) => one(node.metadata.labels?.[labels.nodePool]));
  caches.nodeClaims.addIndex(by.uid, (claim) => [claim.metadata.uid]);
  caches.nodeClaims.addIndex(by.providerID, (claim) => one(claim.status?.providerID));
  caches.nodeClaims.addIndex(by.nodePool, (claim) => one(claim.metadata.labels?.[labels.nodePool]));
  caches.nodeClaims.addIndex(by.nodeClass, (claim) => one(claim.spec.nodeClassRef.name));
  caches.nodePools.addIndex(by.nodeClass, (pool) => one(pool.spec.template.spec.nodeClassRef.name));
  caches.statefulSets.addIndex(by.claimUid, (set) => one(set.metadata.labels?.[labels.claimUid]));
}

function one(value: string | undefined): string[] {
  return value === undefined || value === '' ? [] : [value];
}
