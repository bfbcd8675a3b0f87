import type { Metrics } from '#kube/metrics.ts';
/**
 * From Pods that kube-scheduler gave up to NodeClaims.
 *
 * Level-driven: each pass looks at every pending Pod anew, from the caches, and passes repeat while any is pending.
 * A Pod that a claim is on its way for is left out of the pass and counted as that claim's load; after a restart,
 * when nobody remembers, it is planned onto the same claim again.
 */
import { waitAfter, defaultBackOff } from '#kube/runtime/back-off.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import { misfitOf } from '#scheduling/misfit.ts';
import { solve as solveProblem } from '#scheduling/solve.ts';
import type { NodeInSight, Plan, Problem, Solve } from '#scheduling/solver.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';
import { seconds, type Duration } from '#schemas/time/clock.ts';

import type { Catalog } from '../catalog.ts';
import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import type { Reservations } from '../reservations/reservations.ts';
import { Batcher, type BatchWindow } from './batcher.ts';
import type { BackedOff } from './breaker/backed-off.ts';
import { Breaker, type Held } from './breaker/breaker.ts';
import { ClaimsInSight } from './claims-in-sight.ts';
import { ProvisioningEvents } from './events.ts';
import { Launcher } from './launcher.ts';
import type { LimitStates } from './limit-states.ts';
import { limitsNow } from './limits-now.ts';
import { isLiveNomination } from './live-nomination.ts';
import { ProvisioningMetrics } from './metrics.ts';
import type { Misfits } from './misfits.ts';
import { NodesInSight } from './nodes-in-sight.ts';
import type { Nominations } from './nominations.ts';
import { rejectFirst } from './parallel.ts';
import { PlanUpkeep } from './plan-upkeep.ts';
import { supplyOf, type Supply } from './pools-in-sight.ts';
import { isAimed, isProvisionable } from './provisionable.ts';
import { RestingPools } from './resting-pools.ts';
import { RoomInSight } from './room-in-sight.ts';
import { subscribeTriggers } from './triggers.ts';

export interface ProvisionerParts {
  readonly catalog: Catalog;
  readonly reservations: Reservations;
  readonly nominations: Nominations;
  readonly limits: LimitStates;
  readonly misfits: Misfits;
  readonly backedOff: BackedOff;
  readonly batch: BatchWindow;
  /** Strict and Respect by default. */
  readonly policies?: Pick<Problem, 'preferencePolicy' | 'minValuesPolicy'>;
  readonly metrics: Metrics;
  readonly solve?: Solve;
}

/** A Pod that stays pending is looked at again so often, whether or not anything changed. */
const again: Duration = seconds(10);

export class Provisioner implements Runnable {
  readonly name = 'provisioner';
  readonly #context: Context;
  readonly #parts: ProvisionerParts;
  readonly #batcher: Batcher;
  readonly #claims: ClaimsInSight;
  readonly #nodes: NodesInSight;
  readonly #launcher: Launcher;
  readonly #upkeep: PlanUpkeep;
  readonly #events: ProvisioningEvents;
  readonly #metrics: ProvisioningMetrics;
  readonly #resting: RestingPools;
  readonly #breaker: Breaker;
  #failures = 0;
  #cancelAgain: () => void = () => {};

  constructor(context: Context, parts: ProvisionerParts) {
    this.#context = context;
    this.#parts = parts;
    this.#batcher = new Batcher(context.clock, parts.batch);
    this.#claims = new ClaimsInSight(context);
    this.#nodes = new NodesInSight(context, parts.nominations);
    this.#events = new ProvisioningEvents(context.recorder);
    this.#resting = new RestingPools(context.clock);
    this.#breaker = new Breaker(context, parts.nominations);
    this.#launcher = new Launcher(context, {
      ...parts,
      events: this.#events,
      resting: this.#resting,
    });
    this.#upkeep = new PlanUpkeep(context, parts.nominations, this.#claims, parts.batch.max);
    this.#metrics = new ProvisioningMetrics(parts.metrics, context.clock);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (!(await this.#synced(signal))) return;
    subscribeTriggers(
      this.#context,
      this.#parts.reservations,
      {
        trigger: (key) => this.#batcher.trigger(key),
        isPending: (pod) => this.#isPending(pod),
        claimGone: (name) => this.#claims.gone(name),
        poolGone: (name) => this.#resting.forget(name),
      },
      signal,
    );
    this.#breaker.follow(signal);
    this.#batcher.trigger('start');
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one pass after the other is the point
      await this.#round(signal).catch((error: unknown) => this.#failed(error, signal));
    }
  }

  /** False when the signal aborts first. */
  async #synced(signal: AbortSignal): Promise<boolean> {
    const caches = Object.values(this.#context.caches);
    const waits = await Promise.allSettled(caches.map((cache) => cache.whenSynced(signal)));
    if (!signal.aborted) rejectFirst(waits);
    return !signal.aborted;
  }

  /** What the catalog says is asked first, so that everything else is of one moment. */
  async #pass(signal: AbortSignal): Promise<void> {
    const { nominations, reservations, catalog } = this.#parts;
    await this.#upkeep.run();
    const room = new RoomInSight(this.#claims, reservations);
    const supply = await supplyOf(this.#context, catalog, signal, {
      shareOf: (...asked) => room.share(...asked),
      whyResting: (pool) => this.#resting.whyResting(pool),
    });
    const problem = this.#problem(supply);
    const { plan, held } = this.#breaker.sift(this.#solve(problem), supply);
    this.#tell(plan, problem, supply);
    this.#tellBackOffs(supply, held);
    this.#tellMisfits(supply);
    this.#tellLimits(limitsNow(supply.pools, plan, (pool) => room.of(pool)));
    for (const [pod, claim] of onTheWay(plan, problem.nodes)) nominations.plan(claim, [pod]);
    signal.throwIfAborted();
    await this.#carryOut(plan);
  }

  /** Pods that wait for a machine already are part of its load, not of the problem. */
  #problem({ pools, offers }: Supply): Problem & { readonly pods: readonly Live<Pod>[] } {
    const { caches } = this.#context;
    const unbound = caches.pods.list().filter((pod) => isProvisionable(pod, () => false));
    this.#lookAgain(unbound.length > 0);
    const pods = unbound
      .filter((pod) => this.#isPending(pod))
      .filter(({ metadata }) => !this.#parts.nominations.claimOf(keyText(metadata)));
    const sight = pods.length > 0 ? this.#nodes.look(this.#claims.list(), offers) : { nodes: [] };
    const namespaces = new Map(
      caches.namespaces.list().map(({ metadata }) => [metadata.name, metadata.labels ?? {}]),
    );
    const { policies } = this.#parts;
    return { pods, ...sight, pools, daemonSets: caches.daemonSets.list(), namespaces, ...policies };
  }

  #lookAgain(isNeeded: boolean): void {
    this.#cancelAgain();
    if (!isNeeded) return;
    this.#cancelAgain = this.#context.clock.after(again, () => this.#batcher.trigger('again'));
  }

  async #round(signal: AbortSignal): Promise<void> {
    await this.#batcher.next(signal);
    await this.#pass(signal);
    this.#failures = 0;
  }

  #solve(problem: Problem): Plan {
    const solve = this.#parts.solve ?? solveProblem;
    return this.#metrics.timed(() => solve(problem));
  }

  async #carryOut({ claims }: Plan): Promise<void> {
    await this.#launcher.launch(claims, (claim, planned) => {
      this.#claims.made(claim);
      this.#breaker.made(claim);
      this.#events.waiting(
        claim,
        planned.pods.map((key) => this.#context.caches.pods.get(key)),
      );
    });
  }

  #tell(plan: Plan, { pods }: { readonly pods: readonly Live<Pod>[] }, supply: Supply): void {
    this.#metrics.decided(plan, pods);
    this.#events.placed(plan, pods);
    this.#events.refused(plan, this.#ofOurs(pods), supply.skipped);
  }

  #tellMisfits({ pools }: Supply): void {
    for (const inSight of pools) {
      const pool = inSight.pool as Live<NodePool>;
      const news = this.#parts.misfits.set(pool.metadata.name, misfitOf(inSight));
      if (news !== undefined) this.#events.misfit(pool, news);
    }
  }

  #tellBackOffs({ pools }: Supply, held: readonly Held[]): void {
    const perPool = Map.groupBy(held, ({ pool }) => pool);
    for (const inSight of pools) {
      const pool = inSight.pool as Live<NodePool>;
      const { name } = pool.metadata;
      const own = perPool.get(name) ?? [];
      this.#metrics.backedOff(name, new Set(own.map(({ rest }) => rest)).size);
      const news = this.#parts.backedOff.set(name, own);
      if (news !== undefined) this.#events.backedOff(pool, news);
    }
  }

  #tellLimits(limits: ReturnType<typeof limitsNow>): void {
    for (const [pool, state] of limits) {
      const isNew = this.#parts.limits.set(pool.metadata.name, state);
      if (isNew && state) this.#events.limitReached(pool, state);
    }
  }

  /** Where another provider has pools, a Pod that is not aimed at our Nodes may be theirs: it hears nothing from us. */
  #ofOurs(pods: readonly Live<Pod>[]): readonly Live<Pod>[] {
    return this.#context.caches.nodePools.list().every(isOurs) ? pods : pods.filter(isAimed);
  }

  #isPending(pod: Pod): boolean {
    return isProvisionable(pod, (name) => isLiveNomination(this.#context, name));
  }

  async #failed(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#failures += 1;
    const wait = waitAfter(this.#failures, defaultBackOff, Math.random());
    this.#context.log.error(
      { err: error, failures: this.#failures, retryInMs: Math.round(wait) },
      'pass failed',
    );
    this.#batcher.trigger('failed');
    await this.#context.clock.sleep(wait, signal).catch(() => {});
  }
}

/** Pods with room on a machine that is coming wait for it; those with room on an open Node are the scheduler's. */
function onTheWay(
  { nominations }: Plan,
  nodes: readonly NodeInSight[],
): (readonly [pod: string, claimName: string])[] {
  const coming = new Set(nodes.filter(({ kind }) => kind === 'claim').map(({ name }) => name));
  return [...nominations].filter(([, target]) => coming.has(target));
}
