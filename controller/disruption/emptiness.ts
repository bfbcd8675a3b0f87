import { isConflict, isNotFound } from '#kube/client/errors.ts';
import { isTrue } from '#kube/conditions.ts';
import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { seconds, type Duration } from '#schemas/time/clock.ts';

import { by } from '../caches.ts';
import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import { allowedDisruptions, hasSchedules, unreadableBudget, type PoolCounts } from './budgets.ts';
import {
  isLeaving,
  machinesOf,
  nominatedNodes,
  objectionTo,
  type Machine,
  type Objection,
  type PodsPlannedFor,
} from './candidates.ts';
import * as events from './events.ts';
import type { DisruptionMetrics } from './metrics.ts';
import type { PodActivity } from './pod-activity.ts';
import type { Removals } from './removals.ts';

export interface EmptinessParts {
  readonly activity: PodActivity;
  readonly removals: Removals;
  readonly metrics: DisruptionMetrics;
  readonly plannedFor: PodsPlannedFor;
}

/** Machines that wait for a budget, or for a plan to come true, are looked at again this often. */
const lookAgain: Duration = seconds(10);

/**
 * Removes the machines of a pool that nothing needs any more, as many at once as its budgets allow. This is all that
 * `WhenEmpty` does, and the part of the other policies that needs no simulation.
 *
 * A machine is closed to new Pods first, looked at once more a moment later, and only then deleted; removals.ts has
 * that part. One pool is in one hand at a time, so budgets are not spent twice.
 *
 * Source: Karpenter v1.15, pkg/controllers/disruption/emptiness.go.
 */
export class Emptiness implements Reconciler {
  readonly #context: Context;
  readonly #parts: EmptinessParts;

  constructor(context: Context, parts: EmptinessParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** @param key name of a NodePool */
  async reconcile(key: string, signal: AbortSignal): Promise<Result> {
    const pool = this.#context.caches.nodePools.get(key);
    if (!pool || !isOurs(pool) || pool.metadata.deletionTimestamp !== undefined) return {};
    const claims = this.#context.caches.nodeClaims.by(by.nodePool, key).filter(isOurs);
    const machines = machinesOf(claims, this.#context.caches);
    const { removals } = this.#parts;
    try {
      const healed = await removals.heal(machines.filter((machine) => !isLeaving(machine)));
      if (healed > 0) return { requeueAfter: seconds(1) }; // what is at hand is older than what was just written
      const objection = this.#objectionsIn(pool);
      const next = await removals.carryOut(pool, machines, objection, signal);
      const isWaiting = await this.#choose(pool, machines, objection);
      return requeue([next, isWaiting ? lookAgain : Infinity, removals.dueIn(machines)]);
    } catch (error) {
      // A Node or claim that somebody else wrote, or that is gone: the cache will show it in a moment.
      if (isConflict(error) || isNotFound(error)) return { requeueAfter: seconds(1) };
      throw error;
    }
  }

  /** @returns whether machines are left that could go later */
  async #choose(
    pool: Live<NodePool>,
    machines: readonly Machine[],
    objection: (machine: Machine) => Objection | undefined,
  ): Promise<boolean> {
    const { removals, metrics } = this.#parts;
    const idle = machines.filter((machine) => !isLeaving(machine) && !removals.has(machine.claim));
    const judged = idle.map((machine) => ({ machine, objection: objection(machine) }));
    const empty = judged.filter((one) => !one.objection).map(({ machine }) => machine);
    const allowed = allowedDisruptions(pool, this.#countsOf(machines, empty), 'Empty');
    metrics.allowed(pool.metadata.name, allowed);
    const chosen = empty.toSorted(sickFirst).slice(0, allowed);
    this.#explain(pool, judged, empty.length - chosen.length);
    for (const machine of chosen) {
      // oxlint-disable-next-line no-await-in-loop -- a failure must leave the rest of the budget unspent
      await removals.begin(machine);
    }
    return (
      empty.length > chosen.length || judged.some(({ objection: one }) => isToBeSeenAgain(one))
    );
  }

  #explain(
    pool: Live<NodePool>,
    judged: readonly { machine: Machine; objection: Objection | undefined }[],
    waiting: number,
  ): void {
    const { recorder } = this.#context;
    for (const { machine, objection } of judged) {
      if (objection?.kind === 'blocked') {
        events.blocked(machine, objection.message).forEach((note) => recorder.record(note));
      }
    }
    if (waiting === 0) return;
    const path = unreadableBudget(pool);
    if (path !== undefined) recorder.record(events.unreadable(pool, path));
    else recorder.record(events.noBudget(pool, waiting, hasSchedules(pool)));
  }

  /**
   * A machine that is not ready uses the budgets, whatever becomes of it. An empty one would use them no more by
   * leaving: it is not counted, and chosen first, or it would keep itself for ever.
   */
  #countsOf(machines: readonly Machine[], empty: readonly Machine[]): PoolCounts {
    const leaves = (machine: Machine): boolean =>
      isLeaving(machine) || this.#parts.removals.has(machine.claim);
    const staying = machines.filter((machine) => !leaves(machine));
    return {
      nodes: machines.length,
      leaving: machines.length - staying.length,
      notReady: staying.filter((one) => isSick(one) && !empty.includes(one)).length,
    };
  }

  /** One look at all nominations serves a whole pass. */
  #objectionsIn(pool: NodePool): (machine: Machine) => Objection | undefined {
    const { caches, clock } = this.#context;
    const { activity, plannedFor } = this.#parts;
    const occupancy = { caches, activity, plannedFor, clock, nominated: nominatedNodes(caches) };
    return (machine) => {
      const pods = caches.pods.by(by.node, machine.node.metadata.name);
      return objectionTo(machine, pool, pods, occupancy);
    };
  }
}

/** Empty, and waiting for more than a change that wakes its pool. */
function isToBeSeenAgain(objection: Objection | undefined): boolean {
  return objection?.kind === 'blocked' || objection?.passes === true;
}

function isSick({ node }: Machine): boolean {
  return !isTrue(node.status?.conditions, 'Ready');
}

/** Those that are not ready, then the oldest. */
function sickFirst(a: Machine, b: Machine): number {
  return Number(isSick(b)) - Number(isSick(a)) || bornAt(a.claim) - bornAt(b.claim);
}

function bornAt({ metadata }: NodeClaim): number {
  return Date.parse(metadata?.creationTimestamp ?? '') || 0;
}

function requeue(waits: readonly Duration[]): Result {
  const soonest = Math.min(...waits);
  return soonest === Infinity ? {} : { requeueAfter: Math.max(soonest, 1) };
}
