import { isConflict, isNotFound } from '#kube/client/errors.ts';
import { isTrue, scopeOf, setCondition } from '#kube/conditions.ts';
import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import type { Condition, Live } from '#schemas/kubernetes/meta.ts';
import {
  unikraftQuotaPolicies,
  type UnikraftQuotaPolicy,
  type UnikraftQuotaPolicyStatus,
} from '#schemas/quotapolicy/types.ts';
import { minutes, seconds } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import { Freshest } from '../freshest.ts';
import { isOurs } from '../ours.ts';
import { Pace } from '../pace.ts';
import type { Reservations } from '../reservations/reservations.ts';
import { patchStatus } from '../status-patch.ts';
import { pictureOf, type Picture } from './status.ts';

/**
 * Shows on each UnikraftQuotaPolicy what it comes to: what is asked for, what holds, what is used. It holds nothing
 * back itself; reservations and launches do. It is the only writer of that status, and writes into nobody's spec.
 */
export class QuotaPolicyController implements Reconciler {
  readonly #context: Context;
  readonly #reservations: Reservations;
  readonly #policies: Freshest<UnikraftQuotaPolicy>;
  readonly #pace: Pace;

  constructor(context: Context, reservations: Reservations) {
    this.#context = context;
    this.#reservations = reservations;
    this.#policies = new Freshest(context.caches.quotaPolicies);
    this.#pace = new Pace(context.clock, seconds(1));
    context.caches.quotaPolicies.subscribe({
      delete: ({ metadata }) => this.#pace.forget(metadata.uid),
    });
  }

  /** @param key name of a UnikraftQuotaPolicy */
  async reconcile(key: string): Promise<Result> {
    const policy = this.#policies.get(key);
    if (!policy) return {};
    try {
      return await this.#write(policy, this.#picture(policy));
    } catch (error) {
      if (isNotFound(error)) return {};
      if (isConflict(error)) return { requeueAfter: seconds(1) };
      throw error;
    }
  }

  #picture(policy: Live<UnikraftQuotaPolicy>): Picture {
    const { nodePools, nodeClasses } = this.#context.caches;
    return pictureOf(policy, {
      ceilings: this.#reservations.ceilings,
      pools: nodePools.list().filter(isOurs),
      nodeClass: (name) => nodeClasses.get(name),
      used: (pool) => this.#reservations.used(pool),
      usedUnder: (one) => this.#reservations.usedUnder(one),
    });
  }

  async #write(policy: Live<UnikraftQuotaPolicy>, picture: Picture): Promise<Result> {
    const scope = scopeOf(policy, this.#context.clock.stamp());
    const conditions = picture.conditions.reduce<Condition[]>(
      (list, change) => setCondition(list, change, scope),
      policy.status?.conditions ?? [],
    );
    const isNews = conditions !== policy.status?.conditions;
    const pause = isNews ? 0 : this.#pace.pause(policy.metadata.uid);
    if (pause > 0) return { requeueAfter: pause };
    const wanted = { ...picture.status, conditions } as UnikraftQuotaPolicyStatus;
    const written = await patchStatus(this.#context.client, unikraftQuotaPolicies, policy, wanted);
    if (written === policy) return {};
    this.#policies.wrote(written);
    this.#pace.wrote(policy.metadata.uid);
    this.#tell(policy, conditions);
    return {};
  }

  /** Once when it begins; the condition tells the rest. */
  #tell(before: Live<UnikraftQuotaPolicy>, conditions: readonly Condition[]): void {
    const type = 'LimitReached';
    const reached = conditions.find((one) => one.type === type && one.status === 'True');
    if (reached?.reason !== type || isTrue(before.status?.conditions, type)) return;
    this.#context.recorder.record({
      object: before,
      type: 'Warning',
      reason: type,
      message: reached.message ?? '',
      dedupeValues: [],
      dedupeTimeout: minutes(5),
    });
  }
}
