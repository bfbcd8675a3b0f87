/**
 * What a node class says of itself.
 *
 * Ready means that machines can be made, from whichever revision: a bad new revision leaves it True while an older
 * one can be used. The other conditions speak of the newest spec alone.
 */
import {
  getCondition,
  rootType,
  setCondition,
  type ConditionChange,
  type ConditionScope,
} from '#kube/conditions.ts';
import type { ResolvedPlacement } from '#machine/cloud/provider.ts';
import type { Condition } from '#schemas/kubernetes/meta.ts';
import type { UnikraftNodeClassStatus } from '#schemas/nodeclass/types.ts';

import { changesFrom } from './aspect-conditions.ts';
import type { Findings } from './findings.ts';
import { aspects, type Trouble } from './trouble.ts';

export interface Judged {
  readonly findings: Findings;
  /** Names of revisions; `current` is there only if it is stored, and is the update revision when that can be used. */
  readonly current: string | undefined;
  readonly update: string | undefined;
  /** What is stored for the newest spec: the placement to show while the cloud cannot be asked. */
  readonly stored: ResolvedPlacement | undefined;
  /** What is stored for `current`; undefined while the cache does not hold what was stored a moment ago. */
  readonly inUse: ResolvedPlacement | undefined;
  readonly machines: number;
}

/** The fields that {@link placementShown} decides; undefined takes one away. */
type Placement = {
  [Field in 'image' | 'subnets' | 'securityGroups']: UnikraftNodeClassStatus[Field] | undefined;
};

export function statusFrom(
  before: UnikraftNodeClassStatus,
  judged: Judged,
  scope: ConditionScope,
): UnikraftNodeClassStatus {
  const fields = {
    ...before,
    ...placementShown(before, judged),
    machines: judged.machines,
    currentRevision: judged.current,
    updateRevision: updateShown(judged),
    conditions: conditionsFrom(before.conditions, judged, scope),
  };
  return fields as UnikraftNodeClassStatus; // undefined takes a field away, see status-patch.ts
}

/**
 * The image is that of the revision that machines are made from; subnets and security groups belong to
 * `updateRevision` at all times, since revisions are read together with them: an older lookup stays only while the
 * revision is the same.
 */
function placementShown(before: UnikraftNodeClassStatus, judged: Judged): Partial<Placement> {
  const isSame =
    before.updateRevision !== undefined && before.updateRevision === updateShown(judged);
  if (!judged.findings.placement && isSame) return {};
  const placement = placementOf(judged);
  if (!placement) return { image: undefined, subnets: undefined, securityGroups: undefined };
  const { id, name, architecture } = (olderInUse(judged) ?? placement).image;
  return {
    image: { id, ...(name !== undefined && { name }), architecture },
    subnets: placement.subnets,
    securityGroups: placement.securityGroups.map((group) => ({ id: group })),
  };
}

/** What belongs to the revision that stands as `updateRevision`. */
function placementOf({ findings, update, stored, inUse }: Judged): ResolvedPlacement | undefined {
  return findings.placement ?? (update === undefined ? inUse : stored);
}

function olderInUse({ current, update, inUse }: Judged): ResolvedPlacement | undefined {
  return current !== undefined && current !== update ? inUse : undefined;
}

/** A newest spec whose image is not known has no revision yet: until it has one, the last that resolved stands here. */
function updateShown({ update, current }: Judged): string | undefined {
  return update ?? current;
}

function conditionsFrom(
  before: Condition[] | undefined,
  judged: Judged,
  scope: ConditionScope,
): Condition[] {
  const unknown = aspects
    .filter((type) => !getCondition(before, type))
    .map((type): ConditionChange => ({ type, status: 'Unknown' }));
  const known = changesFrom(judged.findings).filter((change) => isNews(before, change, scope));
  const summary = [updateRevisionReady(judged), stalled(judged), ready(before, judged)];
  return [...unknown, ...known, ...summary].reduce<Condition[]>(
    (conditions, change) => setCondition(conditions, change, scope),
    before ?? [],
  );
}

/** That nobody knows just now is no news about something that was good, or bad, for this very generation. */
function isNews(
  before: Condition[] | undefined,
  { type, status }: ConditionChange,
  { generation }: ConditionScope,
): boolean {
  const old = getCondition(before, type);
  const isKnown = old && old.status !== 'Unknown' && old.observedGeneration === generation;
  return status !== 'Unknown' || !isKnown;
}

function updateRevisionReady({ findings, update }: Judged): ConditionChange {
  const type = 'UpdateRevisionReady';
  const trouble = worstOf(findings.troubles);
  if (!trouble) return { type, status: 'True', message: `Revision ${update ?? ''} can be used` };
  const { reason, message, definite } = trouble;
  return { type, status: definite ? 'False' : 'Unknown', reason, message };
}

/**
 * kstatus reads Stalled=True as Failed, which is what lets the next commit in. While something that can come by itself
 * is missing, such as a Secret, the tools go on waiting for Ready.
 */
function stalled({ findings }: Judged): ConditionChange {
  const trouble = findings.troubles.find(({ lasting }) => lasting);
  return trouble
    ? { type: 'Stalled', status: 'True', reason: trouble.reason, message: trouble.message }
    : { type: 'Stalled', status: 'False', reason: 'NotStalled' };
}

function ready(
  before: Condition[] | undefined,
  { findings, current, update }: Judged,
): ConditionChange {
  const type = rootType;
  const trouble = worstOf(findings.troubles);
  if (!trouble) return { type, status: 'True' };
  const { reason, message, definite } = trouble;
  if (current !== undefined && current !== update) {
    const told = `Machines are made from ${current}, since the newest spec cannot be used: ${message}`;
    return { type, status: 'True', reason: 'UsingStableRevision', message: told };
  }
  const old = getCondition(before, type);
  if (!definite && current !== undefined && old && old.status !== 'Unknown') {
    return kept(old);
  }
  return { type, status: definite ? 'False' : 'Unknown', reason, message };
}

function kept({ type, status, reason, message }: Condition): ConditionChange {
  return {
    type,
    status,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
  };
}

function worstOf(troubles: readonly Trouble[]): Trouble | undefined {
  return troubles.find(({ definite }) => definite) ?? troubles[0];
}
