import type { Code } from '#schemas/errors/codes.ts';
import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { NodePool, Requirement } from '#schemas/karpenter/types.ts';
import type { DaemonSet, NodeSelectorRequirement, Pod, Taint } from '#schemas/kubernetes/core.ts';
import type { LabelSelector, ResourceList } from '#schemas/kubernetes/meta.ts';
import type { Limit } from '#schemas/quotapolicy/ceilings.ts';

import type { Spread } from './topology/terms.ts';

/** A node that Pods may still go to: a Node that is there, or a claim on its way to one. */
export interface NodeInSight {
  /** Node name, or claim name while there is no Node. */
  readonly name: string;
  readonly kind: 'node' | 'claim';
  readonly labels: Readonly<Record<string, string>>;
  /** Taints Pods must tolerate, without those that only mean "not ready yet". */
  readonly taints: readonly Taint[];
  readonly allocatable: ResourceList;
  /** What its Pods (bound, or planned for it) ask for, Pod count included. */
  readonly requested: ResourceList;
  /** Requirements a claim can still satisfy where its labels are not fixed yet. */
  readonly requirements?: readonly Requirement[];
  /** No Pod is on it, or planned for it, but those of DaemonSets: room for a Pod that shares a node with nobody. */
  readonly empty?: boolean;
  /** Volumes that its Pods have attached, by CSI driver, each named once. */
  readonly attached?: Attachments;
  /** The most volumes of each driver that it can attach; absent drivers are unlimited. */
  readonly attachLimits?: Readonly<Record<string, number>>;
  /** Drivers whose volumes it mounts; absent: those of any. */
  readonly drivers?: readonly string[];
}

/** A node that takes no new Pods, yet whose own Pods count where rules look at domains. */
export type ClosedNode = Pick<NodeInSight, 'name' | 'labels' | 'taints'>;

/** A Pod that has a place: rules between Pods look at its labels, host ports and required anti-affinity. */
export interface BoundPod {
  readonly pod: Pod;
  /** Name of the node in sight, or closed, that it is on or planned for. */
  readonly on: string;
}

/** Names of volumes by CSI driver. */
export type Attachments = Readonly<Record<string, readonly string[]>>;

/** What is known about the volumes of a Pod with claims. */
export interface PodVolumes {
  /** Where they can be attached: any of these will do; none: anywhere. */
  readonly nodes: readonly (readonly NodeSelectorRequirement[])[];
  readonly attached: Attachments;
  /** Every driver, CSI or not, that mounts one of them; absent: any node does. */
  readonly drivers?: readonly string[];
  /** Why no node will do, as a claim that is lost or has no class. */
  readonly trouble?: { readonly message: string; readonly code: Code };
}

/** Spread that Pods without any of their own are given, as kube-scheduler is configured. */
export interface DefaultSpread {
  readonly constraints: readonly Omit<Spread, 'labelSelector'>[];
  /** Pod (namespace/name) → what its Services and its controller select, of which all must hold. */
  readonly selectors: ReadonlyMap<string, readonly LabelSelector[]>;
}

export interface PoolInSight {
  readonly pool: NodePool;
  /** As its node class makes them, cheapest first. */
  readonly instanceTypes: readonly InstanceType[];
  /** Limits less what is used and reserved; absent keys are unlimited. */
  readonly remaining: ResourceList;
  /** What `remaining` is the rest of, and who says so; absent: the pool's own limits. */
  readonly limits?: readonly Limit[];
  /** What every Node of it is labelled with beside its template and its size: node class, region, Kraftlet's own. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Drivers whose volumes its machines mount; absent: those of any. */
  readonly drivers?: readonly string[];
}

export interface Problem {
  /** Pods that have no node; order does not matter. */
  readonly pods: readonly Pod[];
  /**
   * Pods whose node will go: room is found for those that will follow them. None of them is in `pods`, on a node in
   * sight, or `bound`.
   */
  readonly leaving?: readonly Pod[];
  readonly nodes: readonly NodeInSight[];
  /** Pools that may launch, any order. */
  readonly pools: readonly PoolInSight[];
  readonly daemonSets: readonly DaemonSet[];
  /**
   * Every Pod that has a place. Absent: nobody knows, so Pods with rules about other Pods are kept to nodes where these
   * can be told, or refused.
   */
  readonly bound?: readonly BoundPod[];
  readonly closed?: readonly ClosedNode[];
  /** Labels of all namespaces; absent: rules that select namespaces are refused. */
  readonly namespaces?: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Pod (namespace/name) → its volumes; a Pod with claims that is not there is refused. */
  readonly volumes?: ReadonlyMap<string, PodVolumes>;
  readonly defaultSpread?: DefaultSpread;
  /** Whether wishes are held like requirements while they can be; Respect by default. */
  readonly preferencePolicy?: 'Respect' | 'Ignore';
  /** Whether `minValues` may be missed rather than launch nothing; Strict by default. */
  readonly minValuesPolicy?: 'Strict' | 'BestEffort';
}

/** A machine to be claimed. */
export interface PlannedClaim {
  readonly nodePool: string;
  /** What the NodeClaim will say, instance-type list (cheapest first, at most 60) included. */
  readonly requirements: readonly Requirement[];
  readonly requests: ResourceList;
  readonly instanceTypes: readonly InstanceType[];
  /** Pods planned for it, as namespace/name. */
  readonly pods: readonly string[];
  /** Some `minValues` could not be had, and its requirements ask for what there is. */
  readonly isMinValuesRelaxed?: boolean;
}

/** Why one pool did nothing for a Pod: the first thing that stopped it. */
export interface Refusal {
  readonly pool: string;
  readonly reason:
    | 'Taints'
    | 'Restricted'
    | 'Unsupported'
    | 'Requirements'
    | 'InstanceTypes'
    | 'Resources'
    | 'NoOfferings'
    | 'Topology'
    | 'Limit'
    /** Said by the provisioner, never by a pass: machines were made for such Pods in vain. */
    | 'Backoff';
  /** One sentence with the nearest miss. */
  readonly message: string;
  /** The resource that is short, for Resources and Limit. */
  readonly resource?: string;
  /** Where something else is wrong than that nothing fits. */
  readonly code?: Code;
}

export interface Plan {
  readonly claims: readonly PlannedClaim[];
  /** Pod (namespace/name) → name of the node or claim in sight that has room. */
  readonly nominations: ReadonlyMap<string, string>;
  readonly unschedulable: ReadonlyMap<string, readonly Refusal[]>;
  /** How many of the problem's `pods` can go where, as it was before the pass; see zones.ts. */
  readonly zones: ReadonlyMap<string, number>;
}

/** Which nodes do these Pods need. Pure; the first one is replaced behind this type later. */
export type Solve = (problem: Problem) => Plan;
