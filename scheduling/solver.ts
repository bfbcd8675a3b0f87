import type { InstanceType } from '#schemas/instances/instance-type.ts';
import type { NodePool, Requirement } from '#schemas/karpenter/types.ts';
import type { DaemonSet, Pod, Taint } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import type { Limit } from '#schemas/quotapolicy/ceilings.ts';

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
}

export interface Problem {
  /** Pods that have no node; order does not matter. */
  readonly pods: readonly Pod[];
  readonly nodes: readonly NodeInSight[];
  /** Pools that may launch, any order. */
  readonly pools: readonly PoolInSight[];
  readonly daemonSets: readonly DaemonSet[];
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
    | 'Limit';
  /** One sentence with the nearest miss. */
  readonly message: string;
  /** The resource that is short, for Resources and Limit. */
  readonly resource?: string;
}

export interface Plan {
  readonly claims: readonly PlannedClaim[];
  /** Pod (namespace/name) → name of the node or claim in sight that has room. */
  readonly nominations: ReadonlyMap<string, string>;
  readonly unschedulable: ReadonlyMap<string, readonly Refusal[]>;
}

/** Which nodes do these Pods need. Pure; the first one is replaced behind this type later. */
export type Solve = (problem: Problem) => Plan;
