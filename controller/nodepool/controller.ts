import { isConflict, isNotFound } from '#kube/client/errors.ts';
import {
  ConditionSet,
  getCondition,
  rootType,
  scopeOf,
  type ConditionChange,
} from '#kube/conditions.ts';
import type { Metrics } from '#kube/metrics.ts';
import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import { nodePools, type NodePool } from '#schemas/karpenter/types.ts';
import type { Condition, Live } from '#schemas/kubernetes/meta.ts';
import type { UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { seconds } from '#schemas/time/clock.ts';

import { by } from '../caches.ts';
import type { Context } from '../context.ts';
import { Freshest } from '../freshest.ts';
import { isOurs } from '../ours.ts';
import { Pace } from '../pace.ts';
import { patchStatus } from '../status-patch.ts';
import { HashStamps } from './hash-stamps.ts';
import { NodePoolMetrics } from './metrics.ts';
import { nodeClassReady } from './readiness.ts';
import { usageOf } from './usage.ts';
import { mistakesOf } from './validation.ts';

type Status = NonNullable<NodePool['status']>;

/** What other controllers know about a pool and want shown on it; conditions that are no part of Ready. */
export type ExtraConditions = (pool: Live<NodePool>) => readonly ConditionChange[];

export const poolConditions = new ConditionSet(['ValidationSucceeded', 'NodeClassReady']);

export interface NodePoolOptions {
  readonly extraConditions?: ExtraConditions | undefined;
  readonly metrics?: Metrics | undefined;
}

/**
 * Tells on each NodePool of ours whether it can be used and how much of it is. It is the only writer of a NodePool's
 * status, so that one reconcile is one write and no condition of one part undoes that of another.
 *
 * Pools of other Karpenter providers are never written to.
 */
export class NodePoolController implements Reconciler {
  readonly #context: Context;
  readonly #pools: Freshest<NodePool>;
  readonly #stamps: HashStamps;
  readonly #extraConditions: ExtraConditions;
  readonly #pace: Pace;
  readonly #metrics: NodePoolMetrics | undefined;

  constructor(context: Context, options: NodePoolOptions = {}) {
    this.#context = context;
    this.#pools = new Freshest(context.caches.nodePools);
    this.#stamps = new HashStamps(context.client);
    this.#extraConditions = options.extraConditions ?? (() => []);
    this.#metrics = options.metrics && new NodePoolMetrics(options.metrics);
    this.#pace = new Pace(context.clock, seconds(1));
    context.caches.nodePools.subscribe({
      delete: ({ metadata }) => this.#pace.forget(metadata.uid),
    });
  }

  /** @param key name of a NodePool */
  async reconcile(key: string): Promise<Result> {
    const pool = this.#pools.get(key);
    if (!pool || !isOurs(pool)) return {};
    try {
      return await this.#write(await this.#stamped(pool));
    } catch (error) {
      if (isNotFound(error)) return {};
      if (isConflict(error)) return { requeueAfter: seconds(1) };
      throw error;
    }
  }

  async #stamped(pool: Live<NodePool>): Promise<Live<NodePool>> {
    const claims = this.#context.caches.nodeClaims.by(by.nodePool, pool.metadata.name);
    const stamped = await this.#stamps.stamp(pool, claims.filter(isOurs));
    this.#pools.wrote(stamped);
    return stamped;
  }

  async #write(pool: Live<NodePool>): Promise<Result> {
    const { name, uid } = pool.metadata;
    const wanted = this.#statusOf(pool);
    this.#metrics?.show(name, wanted.resources ?? {}, pool);
    const pause = isMoreThanCounts(pool, wanted) ? 0 : this.#pace.pause(uid);
    if (pause > 0) return { requeueAfter: pause };
    const written = await patchStatus(this.#context.client, nodePools, pool, wanted);
    if (written === pool) return {};
    this.#pools.wrote(written);
    this.#pace.wrote(uid);
    return {};
  }

  #statusOf(pool: Live<NodePool>): Status {
    const { caches } = this.#context;
    const nodeClass = caches.nodeClasses.get(pool.spec.template.spec.nodeClassRef.name);
    const judged = getCondition(nodeClass?.status?.conditions, rootType)?.observedGeneration;
    return {
      ...pool.status,
      ...usageOf(pool.metadata.name, caches),
      ...(judged !== undefined && { nodeClassObservedGeneration: judged }),
      conditions: this.#conditionsOf(pool, nodeClass),
    };
  }

  #conditionsOf(pool: Live<NodePool>, nodeClass: UnikraftNodeClass | undefined): Condition[] {
    const scope = scopeOf(pool, this.#context.clock.stamp());
    const changes = [
      validationSucceeded(pool),
      nodeClassReady(pool.spec.template.spec.nodeClassRef.name, nodeClass),
      ...this.#extraConditions(pool),
    ];
    return changes.reduce(
      (conditions, change) => poolConditions.set(conditions, change, scope),
      poolConditions.initialize(pool.status?.conditions, scope),
    );
  }
}

/** Whether a write would bring anything but other counts, which can wait a little. */
function isMoreThanCounts({ status = {} }: NodePool, wanted: Status): boolean {
  return (
    status.conditions !== wanted.conditions ||
    status.nodeClassObservedGeneration !== wanted.nodeClassObservedGeneration
  );
}

function validationSucceeded(pool: NodePool): ConditionChange {
  const mistakes = mistakesOf(pool);
  const type = 'ValidationSucceeded';
  if (mistakes.length === 0) return { type, status: 'True' };
  const message = mistakes.map(coded).join('; ').slice(0, 1024);
  return { type, status: 'False', reason: 'NodePoolValidationFailed', message };
}

/** Rules bring a code of their own. */
function coded(mistake: string): string {
  return /\(KPU\d+\)$/.test(mistake) ? mistake : `${mistake} (KPU343)`;
}
