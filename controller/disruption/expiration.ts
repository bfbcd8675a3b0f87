import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { Metrics } from '#kube/metrics.ts';
import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import type { Duration } from '#schemas/time/clock.ts';
import { parseDuration } from '#schemas/time/duration.ts';

import type { Context } from '../context.ts';
import { countDisrupted } from '../metrics.ts';
import { isOurs } from '../ours.ts';
import { longestWait } from './consolidatable.ts';

/**
 * Deletes claims that are older than their `expireAfter`. Budgets have no say in it, the drain that follows still
 * obeys PodDisruptionBudgets.
 *
 * Source: Karpenter v1.15, pkg/controllers/nodeclaim/expiration.
 */
export class Expiration implements Reconciler {
  readonly #context: Context;
  readonly #metrics: Metrics;

  constructor(context: Context, metrics: Metrics) {
    this.#context = context;
    this.#metrics = metrics;
  }

  /** @param key name of a NodeClaim */
  async reconcile(key: string): Promise<Result> {
    const { caches, client, clock, recorder } = this.#context;
    const claim = caches.nodeClaims.get(key);
    if (!claim || !isOurs(claim) || claim.metadata.deletionTimestamp !== undefined) return {};
    const { name, uid, creationTimestamp = clock.stamp() } = claim.metadata;
    const age = clock.now() - clock.from(creationTimestamp);
    const left = lifetime(claim.spec.expireAfter) - age;
    if (left > 0) return left === Infinity ? {} : { requeueAfter: Math.min(left, longestWait) };
    try {
      await client.delete(nodeClaims, { name }, { uid });
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return {};
      throw error;
    }
    countDisrupted(this.#metrics, claim, { reason: 'expired' });
    recorder.record({
      object: claim,
      type: 'Normal',
      reason: 'DisruptionTerminating',
      message: `Disrupting: Expired, older than ${claim.spec.expireAfter}`,
    });
    return {};
  }
}

/** A claim that says nothing, or what cannot be read, does not expire. */
function lifetime(expireAfter: string | undefined): Duration {
  try {
    return parseDuration(expireAfter ?? 'Never');
  } catch {
    return Infinity;
  }
}
