import {
  ConditionSet,
  getCondition,
  isTrue,
  rootType,
  scopeOf,
  type ConditionChange,
} from '#kube/conditions.ts';
import type { MachineError } from '#machine/errors.ts';
import type { Instance, MachineIdentity } from '#machine/machine.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Condition, Live } from '#schemas/kubernetes/meta.ts';
import { machineName } from '#schemas/machine-name.ts';
import { annotations, labels } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

import { intentOf, type Intent } from './intent.ts';

/** Karpenter's Ready depends on upstream's three; the machine's own conditions only tell the story. */
export const lifecycle = new ConditionSet(['Launched', 'Registered', 'Initialized']);

/** In the order in which a machine comes to be; several may come true within one second, which is all that is kept. */
export const story = [
  'CertificateReady',
  'Launched',
  'InstanceRunning',
  'DNSReady',
  'PlatformHealthy',
  'KraftletInstalled',
  'Registered',
  'Initialized',
];

/** The revision of a node class that a machine is made from. */
export interface StampedRevision {
  readonly name: string;
  readonly nodeClass: ResolvedNodeClass;
}

/**
 * One NodeClaim while a chain runs over it: what is known of it, and a draft of its status that is written once
 * at the end of the pass, so that a machine costs few writes.
 */
export class ClaimInHand {
  readonly identity: MachineIdentity;
  readonly status: NonNullable<NodeClaim['status']>;
  claim: Live<NodeClaim>;
  revision: StampedRevision | undefined;
  /** As the cloud shows it in this pass; the step `running` sets it. */
  instance: Instance | undefined;
  /** The intent was written in this very pass, so no earlier call can have acted on it. */
  intentIsNew = false;
  /** What the cloud said to the last candidate that it had no room for in this pass. */
  refusal: MachineError | undefined;
  readonly #clock: Clock;

  constructor(
    claim: Live<NodeClaim>,
    revision: StampedRevision | undefined,
    clusterUid: string,
    clock: Clock,
  ) {
    this.claim = claim;
    this.revision = revision;
    this.#clock = clock;
    // Rounds take all claims in hand each minute: what stands below the first level is replaced and never written to.
    this.status = { ...claim.status };
    this.identity = identityOf(claim, clusterUid);
  }

  get intent(): Intent | undefined {
    return intentOf(this.claim);
  }

  /** The revision that was stamped at launch, by name; the object behind it is {@link revision}. */
  get stamped(): string | undefined {
    return this.claim.metadata.annotations?.[annotations.revision];
  }

  /**
   * Whether an instance can have been made: a launch was announced and not refused for good, or was answered. All
   * that comes after the instance cannot exist without it.
   */
  get mayHaveMachine(): boolean {
    return (
      this.claim.metadata.annotations?.[annotations.intent] !== undefined ||
      this.status.providerID !== undefined
    );
  }

  /** The time since the claim last came a step further. */
  get unmovedFor(): Duration {
    const { deletionTimestamp } = this.claim.metadata;
    const moved = this.#conditions
      .filter(({ status }) => status === 'True')
      .flatMap(({ lastTransitionTime }) => lastTransitionTime ?? []);
    const times = [...moved, ...(deletionTimestamp === undefined ? [] : [deletionTimestamp])];
    const last = Math.max(this.createdAt, ...times.map((time) => this.#clock.from(time)));
    return this.#clock.now() - last;
  }

  get createdAt(): Instant {
    return this.#clock.from(this.claim.metadata.creationTimestamp ?? this.#clock.stamp());
  }

  is(condition: string): boolean {
    return isTrue(this.#conditions, condition);
  }

  reasonOf(condition: string): string | undefined {
    return getCondition(this.#conditions, condition)?.reason;
  }

  /** When the condition last changed its status; undefined while it does not exist. */
  since(condition: string): Instant | undefined {
    const time = getCondition(this.#conditions, condition)?.lastTransitionTime;
    return time === undefined ? undefined : this.#clock.from(time);
  }

  set(change: ConditionChange): void {
    this.status.conditions = lifecycle.set(this.#conditions, change, this.#scope());
  }

  /** A condition that says nothing any more. */
  drop(condition: string): void {
    this.status.conditions = this.#conditions.filter(({ type }) => type !== condition);
  }

  /**
   * Gives a claim that has none yet its conditions, Unknown, and has conditions of the same time tell the story in
   * order; to be called before the status is written.
   */
  conclude(): void {
    const complete = lifecycle.initialize(this.#conditions, this.#scope());
    this.status.conditions = complete.toSorted((a, b) => {
      const isTie = a.lastTransitionTime === b.lastTransitionTime;
      return isTie ? placeOf(a) - placeOf(b) : 0;
    });
  }

  get #conditions(): Condition[] {
    return this.status.conditions ?? [];
  }

  #scope(): ReturnType<typeof scopeOf> {
    return scopeOf(this.claim, this.#clock.stamp());
  }
}

/** Who the machine of a claim is. */
export function identityOf(claim: Live<NodeClaim>, clusterUid: string): MachineIdentity {
  return {
    name: machineName(claim),
    claim: claim.metadata.name,
    claimUid: claim.metadata.uid,
    nodePool: claim.metadata.labels?.[labels.nodePool],
    nodeClass: claim.spec.nodeClassRef.name,
    clusterUid,
  };
}

/** What is no part of the story comes after it, and the root last of all. */
function placeOf({ type }: Condition): number {
  if (type === rootType) return story.length + 1;
  const index = story.indexOf(type);
  return index === -1 ? story.length : index;
}
