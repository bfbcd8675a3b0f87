import type { CloudName } from '#schemas/instances/cloud.ts';
import type { MachineType, Offering } from '#schemas/instances/instance-type.ts';
import type { ResolvedNodeClass, UnikraftNodeClassSpec } from '#schemas/nodeclass/types.ts';

import type { NodeClassError } from '../errors.ts';
import type { Candidate, Instance, MachineIdentity, InstanceToEnd } from '../machine.ts';

/** The part of a node class's status and revision that the cloud decides. */
export type ResolvedPlacement = Pick<ResolvedNodeClass, 'image' | 'subnets' | 'securityGroups'>;

export interface LaunchRequest {
  readonly identity: MachineIdentity;
  readonly nodeClass: ResolvedNodeClass;
  readonly candidate: Candidate;
  /** Not base64. Its bytes must be the same on each call for one candidate and attempt. */
  readonly userData: string;
}

/** A size and where it is sold for one resolved node class: zones of its subnets only, its architecture only. */
export interface SizeOnSale {
  readonly type: MachineType;
  readonly offerings: readonly Offering[];
}

/** What is wrong with an instance that runs, or is about to be. */
export interface InstanceTrouble {
  readonly instanceId: string;
  /** In the cloud's words. */
  readonly why: string;
  /** Since when its checks fail (RFC 3339); absent for what the cloud has decided to do to it. */
  readonly failingSince?: string;
}

/** What a cloud says of instances that run, and what can be done for them. */
export interface InstanceCare {
  /** Those of these ids that the cloud knows, whatever their tags. */
  byId(
    nodeClass: ResolvedNodeClass,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Instance[]>;
  /**
   * Writes the tags by which an instance is known to be of its claim, where it lacks any.
   *
   * @returns keys of those that it lacked
   */
  retag(
    nodeClass: ResolvedNodeClass,
    instance: Instance,
    identity: MachineIdentity,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** @param ids  of instances that run; none that the cloud does not know may be among them */
  troubles(
    nodeClass: ResolvedNodeClass,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly InstanceTrouble[]>;
}

/** What a launch makes beside its instance, and what can outlive it. */
export interface InstancePart {
  readonly kind: 'volume' | 'interface';
  readonly id: string;
  readonly zone: string;
  /** What it was made for, as its tags say. */
  readonly claimUid: string;
  /** The cloud's word for what it does: `available`, `in-use`, `READY`. */
  readonly state: string;
  /** No instance has it, and it is neither being made nor on its way out: only such a one may be deleted. */
  readonly isFree: boolean;
}

/** Disks and network interfaces, which mostly go with their instance. */
export interface InstanceParts {
  /**
   * Everything of the kind in the class's region that carries the cluster's tag.
   *
   * @throws MachineError where anything could be missing: a part of a list is never an answer
   */
  list(
    nodeClass: ResolvedNodeClass,
    clusterUid: string,
    signal: AbortSignal,
  ): Promise<readonly InstancePart[]>;
  /** One that is gone already is no error; one that an instance has is refused by the cloud, too. */
  delete(nodeClass: ResolvedNodeClass, part: InstancePart, signal: AbortSignal): Promise<void>;
}

/**
 * What a cloud must do to make and unmake machines. Implementations keep no state that a restart would miss,
 * save caches. All failures are {@link MachineError}s, whose `next` says what the caller does.
 */
export interface CloudProvider {
  readonly name: CloudName;
  /** Absent where a cloud says nothing of the kind. */
  readonly care?: InstanceCare;
  readonly parts: InstanceParts;
  /** Images, subnets and security groups that the spec selects. Throws NodeClassError with the failing part. */
  resolve(spec: UnikraftNodeClassSpec, signal: AbortSignal): Promise<ResolvedPlacement>;
  /**
   * Asks the cloud whether it would let the operator launch from this class; makes nothing. Absent where a cloud cannot
   * be asked. Throws NodeClassError with what it refuses.
   *
   * @returns what it says that it would refuse, where its word is not final: that is told, and launches are tried
   */
  rehearse?(
    nodeClass: ResolvedNodeClass,
    clusterUid: string,
    signal: AbortSignal,
  ): Promise<NodeClassError | undefined>;
  /** Sizes that can run guests, with what is known of price and capacity now. Offerings without capacity are kept, unavailable. */
  sizes(nodeClass: ResolvedNodeClass, signal: AbortSignal): Promise<readonly SizeOnSale[]>;
  /**
   * Of the class's subnets those that a launch may go to now, the best of each zone first. Answered from what is known:
   * no cloud is called.
   */
  subnets(nodeClass: ResolvedNodeClass): Promise<ResolvedNodeClass['subnets']>;
  /**
   * Starts one instance, or returns the one that an earlier call with the same identity and candidate started.
   * On a lack of capacity it marks what ran out (size and zone, subnet or quota) and throws InsufficientCapacity.
   */
  launch(request: LaunchRequest, signal: AbortSignal): Promise<Instance>;
  /** Every instance tagged for this claim, whatever its state, terminated ones as long as the cloud lists them. */
  find(
    nodeClass: ResolvedNodeClass,
    identity: MachineIdentity,
    signal: AbortSignal,
  ): Promise<readonly Instance[]>;
  /**
   * Instances of this cluster in the class's region, from a snapshot asked for ~2 s ago at most, or under way,
   * so that many waiting claims cost one call.
   */
  snapshot(
    nodeClass: ResolvedNodeClass,
    clusterUid: string,
    signal: AbortSignal,
  ): Promise<readonly Instance[]>;
  /** Asks for the end of an instance; one that is unknown, or of somebody else, is not an error. `find` proves the end. */
  terminate(
    nodeClass: ResolvedNodeClass,
    instance: InstanceToEnd,
    signal: AbortSignal,
  ): Promise<void>;
}
