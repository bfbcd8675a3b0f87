/**
 * Conditions by Karpenter's rules, as values: a list goes in, a list comes out, and the very same list comes out
 * when nothing changed, so that a caller can tell by `===` that there is nothing to write.
 *
 * The rules: a transition time moves only with the status; a plain True has its type as reason; every condition
 * says which generation it was judged at; the list is sorted by transition time with the root last, so that
 * `kubectl describe` tells a story.
 *
 * Source: github.com/awslabs/operatorpkg, status/condition_set.go, as Karpenter v1.15 uses it.
 *
 * @example
 * const lifecycle = new ConditionSet(['Launched', 'Registered', 'Initialized']);
 * const next = lifecycle.set(conditions, { type: 'Launched', status: 'True' }, scopeOf(claim, clock.stamp()));
 * if (next !== conditions) await patchStatus(claim, next);
 */
import type { Condition, KubeObject } from '#schemas/kubernetes/meta.ts';

/** What a caller has to say; the rest of the condition follows from the rules. */
export interface ConditionChange {
  readonly type: string;
  readonly status: Condition['status'];
  /** Default: the type, and AwaitingReconciliation for Unknown. */
  readonly reason?: string;
  readonly message?: string;
}

/** The object that conditions are judged for, and when. */
export interface ConditionScope {
  /** `metadata.generation` of the object that was judged. */
  readonly generation: number;
  /** RFC 3339, from the clock's `stamp()`. */
  readonly now: string;
  /** Creation time of the object: when a condition that begins as Unknown made its first transition. */
  readonly created?: string;
  /** An object that is being deleted has no news to wait for: each change brings all generations up to date. */
  readonly deleting?: boolean;
}

export const rootType = 'Ready';

/** The scope of `object` as it was read. */
export function scopeOf({ metadata }: KubeObject, now: string): ConditionScope {
  return {
    generation: metadata?.generation ?? 0,
    now,
    ...(metadata?.creationTimestamp !== undefined && { created: metadata.creationTimestamp }),
    deleting: metadata?.deletionTimestamp !== undefined,
  };
}

export function getCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether the condition is there and True, at whatever generation. */
export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return getCondition(conditions, type)?.status === 'True';
}

/**
 * Sets one condition and sorts; knows nothing of a root.
 *
 * @returns `conditions` itself when the condition already says all of this
 */
export function setCondition(
  conditions: Condition[] | undefined,
  change: ConditionChange,
  scope: ConditionScope,
): Condition[] {
  const before = conditions ?? [];
  const old = getCondition(before, change.type);
  const next = changed(old, change, scope);
  if (old && isSame(old, next)) return before;
  const all =
    old?.lastTransitionTime === next.lastTransitionTime
      ? before.map((one) => (one === old ? next : one))
      : [...before.filter((one) => one !== old), next];
  return sorted(scope.deleting === true ? judgedNow(all, scope.generation) : all);
}

/**
 * Creates the dependents that are missing as Unknown and computes the root from all of them: True when all are,
 * False only if one is False at the present generation (a stale False may already be mended), else Unknown.
 *
 * @returns `conditions` itself when the root already says so
 */
export function withRoot(
  conditions: Condition[] | undefined,
  dependents: readonly string[],
  scope: ConditionScope,
): Condition[] {
  const all = [rootType, ...dependents]
    .filter((type) => !getCondition(conditions, type))
    .reduce(
      (list, type) => setCondition(list, { type, status: 'Unknown' }, scope),
      [...(conditions ?? [])],
    );
  // Deletion itself raises the generation: that alone must not make a healthy object look unready.
  const judged = scope.deleting === true ? judgedNow(all, scope.generation) : all;
  const next = setCondition(judged, rootOf(judged, dependents, scope.generation), scope);
  return conditions && isSameList(conditions, next) ? conditions : next;
}

/** The conditions of one kind: which of them its root `Ready` depends on, in the order of the kind's life. */
export class ConditionSet {
  readonly dependents: readonly string[];

  constructor(dependents: readonly string[]) {
    this.dependents = dependents;
  }

  /** All dependents and the root, those that are missing as Unknown since the object's creation. */
  initialize(conditions: Condition[] | undefined, scope: ConditionScope): Condition[] {
    return withRoot(conditions, this.dependents, scope);
  }

  /** Sets one condition, which need not be a dependent, and the root with it. */
  set(
    conditions: Condition[] | undefined,
    change: ConditionChange,
    scope: ConditionScope,
  ): Condition[] {
    const complete = this.initialize(conditions, scope);
    // Only what belongs to the object from birth can have been Unknown since then.
    const { created: _, ...sinceNow } = scope;
    return this.initialize(setCondition(complete, change, sinceNow), scope);
  }

  /**
   * Takes a condition away.
   *
   * @throws {Error} for the root and its dependents, which an object always has
   */
  clear(conditions: Condition[], type: string): Condition[] {
    if (type === rootType || this.dependents.includes(type)) {
      throw new Error(
        `Condition ${type} belongs to the object for all its life: set it to Unknown`,
      );
    }
    return getCondition(conditions, type)
      ? conditions.filter((condition) => condition.type !== type)
      : conditions;
  }
}

function changed(
  old: Condition | undefined,
  { type, status, reason, message }: ConditionChange,
  scope: ConditionScope,
): Condition {
  return {
    ...old,
    type,
    status,
    reason: reason ?? (status === 'Unknown' ? 'AwaitingReconciliation' : type),
    message: message ?? (reason === undefined && status === 'Unknown' ? awaiting : ''),
    observedGeneration: scope.generation,
    lastTransitionTime: transitionTime(old, status, scope),
  };
}

const awaiting = 'object is awaiting reconciliation';

function transitionTime(
  old: Condition | undefined,
  status: Condition['status'],
  { now, created }: ConditionScope,
): string {
  if (old) return old.status === status ? (old.lastTransitionTime ?? now) : now;
  return status === 'Unknown' ? (created ?? now) : now;
}

function rootOf(
  conditions: readonly Condition[],
  dependents: readonly string[],
  generation: number,
): ConditionChange {
  const unhealthy = conditions.filter(
    ({ type, status, observedGeneration }) =>
      dependents.includes(type) && (status !== 'True' || observedGeneration !== generation),
  );
  if (unhealthy.length === 0) return { type: rootType, status: 'True' };
  const broken = unhealthy.some(
    ({ status, observedGeneration }) => status === 'False' && observedGeneration === generation,
  );
  return {
    type: rootType,
    status: broken ? 'False' : 'Unknown',
    reason: broken ? 'UnhealthyDependents' : 'ReconcilingDependents',
    message: unhealthy
      .toSorted((a, b) => transitioned(b) - transitioned(a)) // the newest trouble first
      .map(({ type, status }) => `${type}=${status}`)
      .join(', '),
  };
}

function judgedNow(conditions: readonly Condition[], generation: number): Condition[] {
  return conditions.map((condition) =>
    condition.observedGeneration === generation
      ? condition
      : { ...condition, observedGeneration: generation },
  );
}

/** By transition time, root last. What moved within one second stands in the order in which it was said. */
function sorted(conditions: readonly Condition[]): Condition[] {
  return conditions.toSorted(
    (a, b) =>
      Number(a.type === rootType) - Number(b.type === rootType) ||
      transitioned(a) - transitioned(b),
  );
}

function transitioned({ lastTransitionTime }: Condition): number {
  return lastTransitionTime === undefined ? 0 : Date.parse(lastTransitionTime) || 0;
}

function isSameList(a: readonly Condition[], b: readonly Condition[]): boolean {
  return (
    a.length === b.length &&
    b.every((condition) => {
      const other = getCondition(a, condition.type);
      return other !== undefined && isSame(other, condition);
    })
  );
}

/** A message that is absent means the same as an empty one. */
function isSame(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    (a.reason ?? '') === (b.reason ?? '') &&
    (a.message ?? '') === (b.message ?? '') &&
    a.observedGeneration === b.observedGeneration &&
    a.lastTransitionTime === b.lastTransitionTime
  );
}
