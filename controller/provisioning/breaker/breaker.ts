import { isTrue } from '#kube/conditions.ts';
import type { Plan, PlannedClaim } from '#scheduling/solver.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';
import type { Instant } from '#schemas/time/clock.ts';

import { by } from '../../caches.ts';
import type { Context } from '../../context.ts';
import { isOurs } from '../../ours.ts';
import type { Nominations } from '../nominations.ts';
import type { Supply } from '../pools-in-sight.ts';
import { isOwnedBy, isTerminal } from '../provisionable.ts';
import type { Slices } from '../slices.ts';
import { Launches, type Launch, type Resting } from './launches.ts';
import { launchOf } from './made-for.ts';
import { hadPods, isSettled, takenAway } from './placement.ts';
import { groupOf, groupsOf } from './pod-group.ts';
import { restText } from './rest-text.ts';
import { schedulersWords, whatStopped } from './what-stopped.ts';

/** A Pod that gets no machine now. */
export interface Held {
  readonly pool: string;
  /** namespace/name */
  readonly pod: string;
  readonly rest: Resting;
}

/** A plan without what would be in vain. */
export interface Sifted {
  readonly plan: Plan;
  readonly held: readonly Held[];
}

/**
 * Stops a pool from making machine after machine for Pods that never get onto one: because somebody taints each Node,
 * because Nodes offer less than was thought, or for a reason that nobody thought of. Whatever the reason, planning
 * and kube-scheduler disagree about these Pods, and another machine like the last will not settle it.
 *
 * What was tried is read from the annotation of claims, so a restart forgets only what is gone.
 */
export class Breaker {
  readonly #context: Context;
  readonly #nominations: Nominations;
  readonly #launches: Launches;

  constructor(context: Context, nominations: Nominations) {
    this.#context = context;
    this.#nominations = nominations;
    this.#launches = new Launches(context.clock);
  }

  /** From here on it sees claims come and go, and Pods leave their machines. */
  follow(signal: AbortSignal): void {
    const { pods, nodeClaims } = this.#context.caches;
    const made = (claim: Live<NodeClaim>): void => this.made(claim);
    const stops = [
      nodeClaims.subscribe({
        add: made,
        update: made,
        delete: ({ metadata }) => this.#launches.ended(metadata.name),
      }),
      pods.subscribe({
        update: (pod, old) => {
          if (isLeaving(pod) && !isLeaving(old)) this.#left(pod);
        },
        delete: (pod) => this.#left(pod),
      }),
    ];
    signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true });
  }

  /** Also for a claim that the cache does not show yet. */
  made(claim: Live<NodeClaim>): void {
    const launch = isOurs(claim) ? launchOf(claim, this.#context.clock) : undefined;
    if (launch) this.#launches.add(launch);
  }

  /** Takes out of a plan the machines that are for Pods that rest; of those that have rested, one is tried. */
  async sift(plan: Plan, supply: Supply, slices: Slices): Promise<Sifted> {
    const held: Held[] = [];
    if (plan.claims.length === 0) return { plan, held };
    const groups = await slices.map(plan.claims, (claim) => groupsOf(this.#podsOf(claim)));
    await this.#judge(plan, slices);
    const rests = new Rests(this.#restsOf(supply), this.#context.clock.now());
    const unschedulable = new Map(plan.unschedulable);
    const claims = plan.claims.filter((claim, index) => {
      const rest = rests.ask(claim.nodePool, groups[index] ?? []);
      if (!rest) return true;
      const pods = this.#podsOf(claim);
      for (const { metadata } of pods) {
        const message = restText('this one', rest);
        unschedulable.set(keyText(metadata), [
          { pool: claim.nodePool, reason: 'Backoff', message },
        ]);
        held.push({ pool: claim.nodePool, pod: keyText(metadata), rest });
      }
      return false;
    });
    return { plan: { ...plan, claims, unschedulable }, held };
  }

  /** What the machines turned out to be that were made for Pods for which the plan wants another one. */
  async #judge(plan: Plan, slices: Slices): Promise<void> {
    if (this.#launches.unused.length === 0) return;
    const wanted = new Map<string, Pod>();
    await slices.each(plan.claims, (claim) => {
      for (const pod of this.#podsOf(claim)) {
        if (!wanted.has(groupOf(pod))) wanted.set(groupOf(pod), pod);
      }
    });
    await slices.each(this.#launches.unused, (launch) => {
      const group = launch.groups.find((one) => wanted.has(one));
      const pod = group === undefined ? undefined : wanted.get(group);
      if (pod) this.#judgeOne(launch, pod);
    });
  }

  /** A machine that is not open yet, or that Pods are planned for, may still be of use. */
  #judgeOne({ claim: name }: Launch, pod: Pod): void {
    const { caches, clock } = this.#context;
    const status = caches.nodeClaims.get(name)?.status;
    if (!isTrue(status?.conditions, 'Registered')) return;
    if (this.#nominations.podsOf(name).length > 0) return;
    const { nodeName = '' } = status ?? {};
    const there = caches.pods.by(by.node, nodeName).filter(isThere);
    const guests = there.filter((one) => !isOfTheNode(one));
    const hasServed = hadPods(status, clock) || guests.some((guest) => isSettled(guest, clock));
    if (hasServed) this.#launches.used(name);
    else if (guests.length > 0) this.#launches.undecided(name);
    else this.#inVain(name, pod, there, caches.nodes.get(nodeName));
  }

  #inVain(claim: string, pod: Pod, there: readonly Pod[], node: Live<Node> | undefined): void {
    this.#launches.useless(claim, node && whatStopped(pod, node, there), schedulersWords(pod));
  }

  /** A Pod that ended by itself, or was taken back by its owner, had its place; one that was taken away did not. */
  #left(pod: Live<Pod>): void {
    const claim = this.#claimUnder(pod);
    if (claim === undefined || !this.#launches.isUnused(claim) || isOfTheNode(pod)) return;
    const why = takenAway(pod);
    if (why === undefined || isSettled(pod, this.#context.clock)) this.#launches.used(claim);
    else this.#launches.spoiled(claim, why);
  }

  #claimUnder({ spec }: Pod): string | undefined {
    const { nodes, nodeClaims } = this.#context.caches;
    const node = nodes.get(spec?.nodeName ?? '');
    const [claim] = node ? nodeClaims.by(by.providerID, node.spec?.providerID ?? '') : [];
    return claim?.metadata.name;
  }

  #restsOf({ pools, offers }: Supply): Map<string, ReadonlyMap<string, Resting>> {
    return new Map(
      pools.map(({ pool: { metadata, spec } }) => {
        const name = metadata?.name ?? '';
        const revision = offers.get(spec.template.spec.nodeClassRef.name)?.revision;
        const basis = { generation: metadata?.generation ?? 0, revision };
        return [name, this.#launches.restingIn(name, basis)];
      }),
    );
  }

  #podsOf({ pods }: PlannedClaim): Live<Pod>[] {
    return pods.flatMap((key) => this.#context.caches.pods.get(key) ?? []);
  }
}

/** The rests of one pass: Pods that have rested get one machine in it, not one for each few of them. */
class Rests {
  readonly #rests: ReadonlyMap<string, ReadonlyMap<string, Resting>>;
  readonly #now: Instant;
  readonly #tried = new Set<string>();

  constructor(rests: ReadonlyMap<string, ReadonlyMap<string, Resting>>, now: Instant) {
    this.#rests = rests;
    this.#now = now;
  }

  /** @returns the rest that a machine for these groups has to wait for; undefined when it may be made */
  ask(pool: string, groups: readonly string[]): Resting | undefined {
    const rests = groups.map((group) => this.#rests.get(pool)?.get(group));
    const keys = groups.map((group) => `${pool} ${group}`);
    const isDue = (rest: Resting | undefined, at: number): boolean =>
      !rest || (rest.until <= this.#now && !this.#tried.has(keys[at] ?? ''));
    if (rests.length > 0 && !rests.some(isDue)) return rests[0];
    keys.forEach((key) => this.#tried.add(key));
    return undefined;
  }
}

function isLeaving(pod: Pod): boolean {
  return isTerminal(pod) || pod.metadata?.deletionTimestamp !== undefined;
}

function isThere(pod: Pod): boolean {
  return !isLeaving(pod);
}

function isOfTheNode(pod: Pod): boolean {
  return isOwnedBy(pod, 'DaemonSet', 'Node');
}
