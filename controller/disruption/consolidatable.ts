import { isConflict, isNotFound } from '#kube/client/errors.ts';
import { getCondition, isTrue, scopeOf, setCondition } from '#kube/conditions.ts';
import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import { nodeClaims, type NodeClaim, type NodePool } from '#schemas/karpenter/types.ts';
import type { Condition, Live } from '#schemas/kubernetes/meta.ts';
import { labels } from '#schemas/names.ts';
import { hours, seconds, type Clock, type Duration, type Instant } from '#schemas/time/clock.ts';
import { parseDuration } from '#schemas/time/duration.ts';

import type { Context } from '../context.ts';
import { Freshest } from '../freshest.ts';
import { isOurs } from '../ours.ts';
import { patchStatus } from '../status-patch.ts';
import type { Activity, PodActivity } from './pod-activity.ts';

type Status = NonNullable<NodeClaim['status']>;

const type = 'Consolidatable';
/**
 * lastPodEventTime is written at most this often, and first so long after a machine opened: Pods may come and go many
 * times a second, and those it was made for come together.
 */
const writeInterval: Duration = seconds(10);
/** Timers cannot wait longer than 24.8 days; a day is as good. */
export const longestWait: Duration = hours(24);

/**
 * Tells on each claim when its Pods last changed and whether its pool's `consolidateAfter` has passed since. Nothing
 * is written before the claim is initialised, so a launch costs no writes here.
 *
 * Source: Karpenter v1.15, pkg/controllers/nodeclaim/disruption/consolidation.go and podevents.
 */
export class Consolidatable implements Reconciler {
  readonly #context: Context;
  readonly #claims: Freshest<NodeClaim>;
  readonly #activity: PodActivity;

  constructor(context: Context, activity: PodActivity) {
    this.#context = context;
    this.#claims = new Freshest(context.caches.nodeClaims);
    this.#activity = activity;
  }

  /** @param key name of a NodeClaim */
  async reconcile(key: string): Promise<Result> {
    const claim = this.#claims.get(key);
    const pool = claim && this.#poolOf(claim);
    if (!pool) return {};
    try {
      return await this.#tell(claim, pool);
    } catch (error) {
      if (isNotFound(error)) return {};
      if (isConflict(error)) return { requeueAfter: seconds(1) };
      throw error;
    }
  }

  /** The pool whose policy a claim falls under; undefined for claims that nothing is to be written to. */
  #poolOf(claim: Live<NodeClaim>): NodePool | undefined {
    const isSettled = isTrue(claim.status?.conditions, 'Initialized');
    if (!isOurs(claim) || !isSettled || claim.metadata.deletionTimestamp !== undefined) {
      return undefined;
    }
    return this.#context.caches.nodePools.get(claim.metadata.labels?.[labels.nodePool] ?? '');
  }

  async #tell(claim: Live<NodeClaim>, pool: NodePool): Promise<Result> {
    const { client, clock } = this.#context;
    const { status = {} } = claim;
    const activity = this.#activity.latest(status.nodeName ?? '');
    const event = this.#eventToWrite(status, activity);
    const due = consolidatableAt(claim, pool, activity, clock);
    const wait = due - clock.now();
    const written = await patchStatus(client, nodeClaims, claim, {
      ...status,
      ...(event.stamp !== undefined && { lastPodEventTime: event.stamp }),
      conditions: this.#conditions(claim, wait <= 0),
    });
    this.#claims.wrote(written);
    const soonest = Math.min(event.again, wait > 0 ? wait : Infinity, longestWait);
    return { requeueAfter: soonest };
  }

  #conditions(claim: Live<NodeClaim>, isDue: boolean): Condition[] {
    const { conditions = [] } = claim.status ?? {};
    if (isDue) {
      const scope = scopeOf(claim, this.#context.clock.stamp());
      return setCondition(conditions, { type, status: 'True' }, scope);
    }
    return conditions.filter((condition) => condition.type !== type);
  }

  /** What of the activity is still to be written: now, or after a while. */
  #eventToWrite(
    { lastPodEventTime, conditions }: Status,
    activity: Activity | undefined,
  ): { stamp?: string; again: Duration } {
    const { clock } = this.#context;
    if (!activity) return { again: Infinity };
    const written = instantOf(lastPodEventTime, clock);
    if (clock.from(activity.stamp) <= written) return { again: Infinity };
    const opened = instantOf(getCondition(conditions, 'Initialized')?.lastTransitionTime, clock);
    const pause = Math.max(written, opened) + writeInterval - clock.now();
    return pause > 0 ? { again: pause } : { stamp: activity.stamp, again: Infinity };
  }
}

/**
 * When a claim may be consolidated: `consolidateAfter` after its last Pod event, or its initialisation if that was
 * later. Infinity for a claim that is not initialised, `Never`, and static pools.
 */
export function consolidatableAt(
  { status }: NodeClaim,
  { spec }: NodePool,
  activity: Activity | undefined,
  clock: Clock,
): Instant {
  const initialized = getCondition(status?.conditions, 'Initialized');
  if (initialized?.status !== 'True' || spec.replicas !== undefined) return Infinity;
  const last = Math.max(
    instantOf(initialized.lastTransitionTime, clock),
    instantOf(status?.lastPodEventTime, clock),
    activity?.at ?? -Infinity,
  );
  return last + consolidateAfter(spec.disruption?.consolidateAfter ?? '0s');
}

function instantOf(timestamp: string | undefined, clock: Clock): Instant {
  return timestamp === undefined ? -Infinity : clock.from(timestamp);
}

/** What cannot be read consolidates nothing. */
function consolidateAfter(text: string): Duration {
  try {
    return parseDuration(text);
  } catch {
    return Infinity;
  }
}
