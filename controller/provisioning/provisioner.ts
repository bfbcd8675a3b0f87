/**
 * From Pods that kube-scheduler gave up to NodeClaims.
 *
 * Level-driven: each pass looks at every pending Pod anew, from the caches, and passes repeat while any is pending.
 * A Pod that a claim is on its way for is left out of the pass and counted as that claim's load; after a restart,
 * when nobody remembers, it is planned onto the same claim again.
 *
 * A pass is worked out in slices, and solved in a thread of its own: the process goes on meanwhile, so what has changed
 * by then is left out of what is carried out.
 */
import type { Metrics } from '#kube/metrics.ts';
import { waitAfter, defaultBackOff } from '#kube/runtime/back-off.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import { misfitOf } from '#scheduling/misfit.ts';
import type { Plan, Problem } from '#scheduling/solver.ts';
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { seconds, type Duration } from '#schemas/time/clock.ts';

import type { Catalog } from '../catalog.ts';
import type { Context } from '../context.ts';
import type { Reservations } from '../reservations/reservations.ts';
import { Batcher, type BatchWindow } from './batcher.ts';
import type { BackedOff } from './breaker/backed-off.ts';
import { Breaker, type Held } from './breaker/breaker.ts';
import { ClaimsInSight } from './claims-in-sight.ts';
import type { DefaultSpreads } from './default-spread/default-spreads.ts';
import { ProvisioningEvents } from './events.ts';
import { Launcher } from './launcher.ts';
import { LeavingPods } from './leaving/leaving-pods.ts';
import type { LimitStates } from './limit-states.ts';
import { limitsNow, type LimitsNow } from './limits-now.ts';
import { isLiveNomination } from './live-nomination.ts';
import { ProvisioningMetrics } from './metrics.ts';
import type { Misfits } from './misfits.ts';
import { NodesInSight } from './nodes-in-sight.ts';
import type { Nominations } from './nominations.ts';
import { rejectFirst } from './parallel.ts';
import { PlanUpkeep } from './plan-upkeep.ts';
import { PodNews } from './pod-news.ts';
import { PodsOfPass } from './pods-of-pass.ts';
import { supplyOf, type Supply } from './pools-in-sight.ts';
import { isProvisionable } from './provisionable.ts';
import { PodsAside } from './quarantine/pods-aside.ts';
import { RestingPools } from './resting-pools.ts';
import { RoomInSight } from './room-in-sight.ts';
import { Slices } from './slices.ts';
import type { Solver } from './solver.ts';
import { sortPods, type SortedPods } from './sorted-pods.ts';
import { onTheWay, stillWanted, type Now } from './still-wanted.ts';
import { NoSolverThread } from './thread/errors.ts';
import { Trials } from './trials/trials.ts';
import { subscribeTriggers } from './triggers.ts';
import { VolumesInSight } from './volumes/volumes-in-sight.ts';

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
  /** Absent: kube-scheduler gives Pods no spread that planning must know of. */
  readonly defaultSpreads?: DefaultSpreads | undefined;
  readonly metrics: Metrics;
  readonly solver: Solver;
  /** How long a turn may last; default: as {@link Slices} has it. */
  readonly slices?: Slices;
}

type PodProblem = Problem & {
  readonly pods: readonly Live<Pod>[];
  readonly leaving: readonly Live<Pod>[];
};

interface Sifting {
  /** As the solver found it, and what of it is not held back. */
  readonly solved: Plan;
  readonly plan: Plan;
  readonly solvedInMs: number;
}

const nothing: Plan = {
  claims: [],
  nominations: new Map(),
  unschedulable: new Map(),
  zones: new Map(),
};

const noLabels: Readonly<Record<string, string>> = {};

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
  readonly #news: PodNews;
  readonly #resting: RestingPools;
  readonly #breaker: Breaker;
  readonly #aside: PodsAside;
  readonly #leaving: LeavingPods;
  readonly #trials: Trials;
  readonly #volumes: VolumesInSight;
  readonly #slices: Slices;
  #failures = 0;
  #cancelAgain: () => void = () => {};

  constructor(context: Context, parts: ProvisionerParts) {
    this.#context = context;
    this.#parts = parts;
    this.#slices = parts.slices ?? new Slices();
    this.#batcher = new Batcher(context.clock, parts.batch);
    this.#claims = new ClaimsInSight(context);
    this.#nodes = new NodesInSight(context, parts.nominations);
    this.#events = new ProvisioningEvents(context.recorder);
    this.#resting = new RestingPools(context.clock);
    this.#breaker = new Breaker(context, parts.nominations);
    this.#aside = new PodsAside(context);
    this.#leaving = new LeavingPods(context);
    this.#trials = new Trials(context);
    this.#volumes = new VolumesInSight(context);
    this.#launcher = new Launcher(context, {
      ...parts,
      events: this.#events,
      resting: this.#resting,
    });
    this.#upkeep = new PlanUpkeep(context, parts.nominations, this.#claims, parts.batch.max);
    this.#metrics = new ProvisioningMetrics(parts.metrics, context.clock);
    this.#news = new PodNews(context, this.#events, this.#metrics);
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
    this.#volumes.follow(() => this.#batcher.trigger('volume'), signal);
    this.#batcher.trigger('start');
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one pass after the other is the point
      await this.#round(signal).catch((error: unknown) => this.#failed(error, signal));
    }
  }

  /** False when the signal aborts first. */
  async #synced(signal: AbortSignal): Promise<boolean> {
    const { defaultSpreads } = this.#parts;
    const caches = [...Object.values(this.#context.caches), ...(defaultSpreads?.caches ?? [])];
    const waits = await Promise.allSettled(caches.map((cache) => cache.whenSynced(signal)));
    if (!signal.aborted) rejectFirst(waits);
    return !signal.aborted;
  }

  /** What the catalog says is asked first, so that everything else is of one moment. */
  async #pass(signal: AbortSignal): Promise<void> {
    const { reservations, catalog } = this.#parts;
    await this.#upkeep.run(this.#slices);
    const room = new RoomInSight(this.#claims, reservations);
    const supply = await supplyOf(this.#context, catalog, signal, {
      shareOf: (...asked) => room.share(...asked),
      whyResting: (pool) => this.#resting.whyResting(pool),
    });
    const problem = await this.#problem(supply);
    const began = performance.now();
    const solved = await this.#solve(problem, signal);
    const solvedInMs = Math.round(performance.now() - began);
    const who = await this.#podsOf(problem);
    await this.#keepRoom(solved, problem, who);
    const { plan: lasting, held } = await this.#breaker.sift(solved, supply, this.#slices);
    const plan = await this.#trials.sift(lasting, supply, this.#claims.list(), this.#slices);
    this.#log(problem, { solved, plan, solvedInMs });
    const told = [
      this.#carryOut(plan, problem, who, signal),
      this.#news.tell(plan, problem.pods, supply.skipped, this.#slices),
      this.#tellOfPools(lasting, held, supply, room),
    ];
    rejectFirst(await Promise.allSettled(told)); // what cannot be carried out is told all the same
  }

  /** Pods that wait for a machine already are part of its load, not of the problem. */
  async #problem({ pools, offers }: Supply): Promise<PodProblem> {
    const { caches } = this.#context;
    const sorted = await sortPods(caches.pods.list(), this.#slices);
    const claims = this.#claims.list();
    const { pods, leaving } = await this.#whoTakesPart(sorted, claims);
    this.#metrics.batch(pods.length + leaving.length, sorted.ignored);
    const both = [...pods, ...leaving];
    const picture = { claims, offers, placed: sorted.placed, leaving };
    const sight = both.length > 0 ? await this.#nodes.look(picture, this.#slices) : { nodes: [] };
    const mounted = { pods: both, nodes: sight.nodes, placed: sorted.placed };
    const volumes = await this.#volumes.look(mounted, this.#slices);
    const namespaces = new Map(
      caches.namespaces.list().map(({ metadata }) => [metadata.name, metadata.labels ?? noLabels]),
    );
    const { policies, defaultSpreads } = this.#parts;
    const defaultSpread = await defaultSpreads?.of(both, this.#slices);
    return {
      pods,
      leaving,
      ...sight,
      ...volumes,
      pools,
      daemonSets: caches.daemonSets.list(),
      namespaces,
      ...(defaultSpread && { defaultSpread }),
      ...policies,
    };
  }

  /** Pods that wait for no machine yet, and those that have to leave theirs; without those with which there is no plan. */
  async #whoTakesPart(
    sorted: SortedPods,
    claims: readonly Live<NodeClaim>[],
  ): Promise<Pick<PodProblem, 'pods' | 'leaving'>> {
    const waiting: Live<Pod>[] = [];
    await this.#slices.each(sorted.waiting, (pod) => {
      if (this.#isWaiting(pod)) waiting.push(pod);
    });
    const found = await this.#leaving.find(claims, sorted.placed, this.#slices);
    this.#lookAgain(sorted.waiting.length > 0 || found.isToBeSeenAgain);
    const taken = await this.#aside.sift([...waiting, ...found.pods], this.#slices);
    this.#news.tellAside(this.#aside.aside);
    return {
      pods: taken.filter(({ spec }) => !spec?.nodeName),
      leaving: taken.filter(({ spec }) => spec?.nodeName),
    };
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
    if (this.#aside.isHasteOfUse) this.#batcher.trigger('held back');
  }

  async #solve(problem: PodProblem, signal: AbortSignal): Promise<Plan> {
    if (problem.pods.length + problem.leaving.length === 0) return nothing;
    const plan = await this.#metrics
      .timed(async () => this.#parts.solver.solve(problem, signal))
      .catch((error: unknown) => {
        const isOfThePods = !signal.aborted && !(error instanceof NoSolverThread);
        if (isOfThePods) this.#aside.failed(error);
        throw error;
      });
    this.#aside.succeeded();
    return plan;
  }

  /** What is carried out of a plan, and how many Pods wait though there would be a machine for them. */
  #log({ pods, leaving }: PodProblem, { solved, plan, solvedInMs }: Sifting): void {
    const facts = {
      pods: pods.length,
      leaving: leaving.length,
      nodeClaims: plan.claims.length,
      nominated: plan.nominations.size,
      unschedulable: solved.unschedulable.size,
      heldBack: plan.unschedulable.size - solved.unschedulable.size,
      solvedInMs,
    };
    if (solved.claims.length > 0) this.#context.log.info(facts, 'planned');
  }

  async #podsOf({ pods, leaving }: PodProblem): Promise<PodsOfPass> {
    return PodsOfPass.of(pods, leaving, {
      caches: this.#context.caches,
      slices: this.#slices,
      isWaiting: (pod) => this.#isWaiting(pod),
      isLeaving: (pod) => this.#leaving.isStill(pod),
    });
  }

  /** Machines that are there, or are coming, with room for Pods that leave: before anybody says that they are in vain. */
  async #keepRoom(plan: Plan, { nodes, leaving }: PodProblem, who: PodsOfPass): Promise<void> {
    const { kept } = this.#parts.nominations;
    if (leaving.length === 0) return kept.replace([]);
    const claims = new Map(nodes.map((node) => [node.name, this.#claims.under(node)]));
    const found: [string, string][] = [];
    await this.#slices.each(plan.nominations, ([key, target]) => {
      const claim = who.isLeaving(key) ? claims.get(target) : undefined;
      if (claim !== undefined) found.push([key, claim]);
    });
    return kept.replace(found);
  }

  async #carryOut(
    plan: Plan,
    { nodes, pools }: PodProblem,
    pods: PodsOfPass,
    signal: AbortSignal,
  ): Promise<void> {
    const now: Now = {
      caches: this.#context.caches,
      claims: this.#claims,
      pods,
      slices: this.#slices,
    };
    const joining = await onTheWay(plan, nodes, now);
    const wanted = await stillWanted(plan, pools, now);
    for (const [pod, claim] of joining) this.#parts.nominations.plan(claim, [pod]);
    signal.throwIfAborted();
    await this.#launcher.launch(wanted, (claim, { waiting }) => {
      this.#claims.made(claim);
      this.#breaker.made(claim);
      this.#events.waiting(claim, waiting);
    });
  }

  async #tellOfPools(
    plan: Plan,
    held: readonly Held[],
    supply: Supply,
    room: RoomInSight,
  ): Promise<void> {
    this.#tellMisfits(supply);
    this.#tellBackOffs(supply, held);
    const { pools } = supply;
    this.#tellLimits(await limitsNow(pools, plan, (pool) => room.of(pool), this.#slices));
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

  #tellLimits(limits: LimitsNow): void {
    for (const [pool, state] of limits) {
      const isNew = this.#parts.limits.set(pool.metadata.name, state);
      if (isNew && state) this.#events.limitReached(pool, state);
    }
  }

  #isPending(pod: Pod): boolean {
    return isProvisionable(pod, (name) => isLiveNomination(this.#context, name));
  }

  /** Pending, and no machine is on its way for it. */
  #isWaiting(pod: Live<Pod>): boolean {
    return this.#isPending(pod) && this.#parts.nominations.claimOf(pod) === undefined;
  }

  async #failed(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#metrics.failed();
    // While it is halved which Pods they fail with, passes follow each other as soon as there is a thread.
    const isSoon = this.#aside.isHasteOfUse && !(error instanceof NoSolverThread);
    this.#failures = isSoon ? 1 : this.#failures + 1;
    const wait = waitAfter(this.#failures, defaultBackOff, Math.random());
    this.#context.log.error(
      { err: error, failures: this.#failures, retryInMs: Math.round(wait) },
      'pass failed',
    );
    this.#batcher.trigger('failed');
    await this.#context.clock.sleep(wait, signal).catch(() => {});
  }
}
