/**
 * Every name that other programs see: labels, annotations, taints, finalizers.
 *
 * Sources: Karpenter v1.15, pkg/apis/v1/labels.go and taints.go; Unikraft's Kubernetes integration page for Kraftlet's own.
 */
import type { Taint } from './kubernetes/core.ts';

/** Our API group. The vendor's own provider is closed; this group is this project's design. */
export const group = 'karpenter.unikraft.com';
export const nodeClassKind = 'UnikraftNodeClass';
/** The component name in events and the field manager of every write of the controller. */
export const manager = 'karpenter-provider-unikraft';

export const labels = {
  nodePool: 'karpenter.sh/nodepool',
  capacityType: 'karpenter.sh/capacity-type',
  registered: 'karpenter.sh/registered',
  initialized: 'karpenter.sh/initialized',
  doNotSyncTaints: 'karpenter.sh/do-not-sync-taints',
  zone: 'topology.kubernetes.io/zone',
  region: 'topology.kubernetes.io/region',
  instanceType: 'node.kubernetes.io/instance-type',
  arch: 'kubernetes.io/arch',
  os: 'kubernetes.io/os',
  hostname: 'kubernetes.io/hostname',
  excludeFromLoadBalancers: 'node.kubernetes.io/exclude-from-external-load-balancers',
  /** How a Node is judged ours: `<group>/<lower-case kind>` = node class name. */
  nodeClass: `${group}/unikraftnodeclass`,
  instanceFamily: `${group}/instance-family`,
  instanceVcpus: `${group}/instance-vcpus`,
  instanceMemory: `${group}/instance-memory`,
  nestedVirtualization: `${group}/nested-virtualization`,
  /** A Pod (or namespace) opts in with "true"; "false" on a Pod wins over all. */
  inject: `${group}/inject`,
  /** The claim's UID, on everything in the cluster that is made for one machine. */
  claimUid: `${group}/nodeclaim-uid`,
  /** Set by Kraftlet on its Node. */
  virtualKubelet: 'unikraft.com/virtual-kubelet',
  nodeRole: 'kubernetes.io/role',
  nodeType: 'type',
} as const;

export const annotations = {
  /** Set by kube-controller-manager on a claim whose volume is its own. */
  bindCompleted: 'pv.kubernetes.io/bind-completed',
  doNotDisrupt: 'karpenter.sh/do-not-disrupt',
  /** "true" on a Node whose machine is not to be replaced though it is down. */
  doNotRepair: 'karpenter.sh/do-not-repair',
  nodePoolHash: 'karpenter.sh/nodepool-hash',
  nodePoolHashVersion: 'karpenter.sh/nodepool-hash-version',
  terminationTimestamp: 'karpenter.sh/nodeclaim-termination-timestamp',
  /** "true" on a claim that has fewer kinds of machines to choose from than its pool's minValues ask for. */
  minValuesRelaxed: 'karpenter.sh/nodeclaim-min-values-relaxed',
  /** Name of the ControllerRevision that the machine was, or is being, made from. */
  revision: `${group}/revision`,
  /** The kinds of Pods that a claim was made for, so that machines in vain are counted also after a restart. */
  madeFor: `${group}/made-for`,
  /** The launch intent as JSON, written before the cloud is called: see controller/nodeclaim. */
  intent: `${group}/launch-intent`,
} as const;

/** The class whose claims a Kraftlet with its PVC watcher turns into volumes of its own platform. */
export const ukcVolume = 'ukc-volume';

export const finalizers = {
  /** On NodeClaims from birth and on Nodes from registration. */
  termination: 'karpenter.sh/termination',
  /** On UnikraftNodeClasses while claims use them. */
  nodeClass: `${group}/termination`,
  /** Put by Kraftlet on each Pod it accepted. */
  kraftletPod: 'cloud.unikraft.v1/resources',
} as const;

export const taints = {
  /**
   * Nodes are born with it; registration takes it off. Upstream's effect is NoExecute; whoever evicts by that may see
   * the Node open later than the scheduler does, and would take its first Pods from it: docs/adr/0013.
   */
  unregistered: { key: 'karpenter.sh/unregistered', effect: 'NoSchedule' },
  disrupted: { key: 'karpenter.sh/disrupted', effect: 'NoSchedule' },
  /** The vendor's taint on every Kraftlet Node. */
  kraftlet: { key: 'virtual-kubelet.io/provider', value: 'ukc', effect: 'NoSchedule' },
} as const satisfies Record<string, Taint>;

/** Tags of cloud instances: which cluster owns them and which claim they were made for. */
export const tags = {
  cluster: `${group}/cluster`,
  claimUid: `${group}/nodeclaim-uid`,
  claim: 'karpenter.sh/nodeclaim',
  nodePool: 'karpenter.sh/nodepool',
  nodeClass: labels.nodeClass,
  name: 'Name',
} as const;

export const onDemand = 'on-demand';
