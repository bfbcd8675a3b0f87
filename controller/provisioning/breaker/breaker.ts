import { isTrue } from '#kube/conditions.ts';
import type { Plan, PlannedClaim } from '#scheduling/solver.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';

import { by } from '../../caches.ts';
import type { Context } from '../../context.ts';
import { isOurs } from '../../ours.ts';
import type { Nominations } from '../nominations.ts';
import type { Supply } from '../pools-in-sight.ts';
import { isOwnedBy, isTerminal } from '../provisionable.ts';
import type { Slices } from '../slices.ts';
import { causesOn, concerns, isTaintOfSomebody, type Cause } from './cause.ts';
import { Launches, type Launch, type PoolRests, type Resting } from './launches.ts';
import { launchOf } from './made-for.ts';
import { hadPods, isSettled, takenAway } from './placement.ts';
import { groupOf } from './pod-group.ts';
import { restText } from './rest-text.ts';
import { Rests } from './rests.ts';
import { schedulersWords, tainted, whatStopped } from './what-stopped.ts';

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
 * and kube-scheduler disagree about these Pods, and another machine like the last will not settle it. Counted are the
 * machines for Pods of one kind, and those that one thing on their Nodes speaks against, whatever Pods these were for.
 *
 * What was tried is read from the annotation of claims, so a restart forgets only what is gone.
 */
export class Breaker {
  readonly #context: Context;
  readonly #nominations: Nominations;
  readonly #launches: Launches;
  readonly #rests: Rests;

  constructor(context: Context, nominations: Nominations) {
    this.#context = context;
    this.#nominations = nominations;
    this.#launches = new Launches(context.clock);
    this.#rests = new Rests(this.#launches);
  }

  /** From here on it sees claims come and go, and Pods leave their machines. */
  follow(signal: AbortSignal): void {
    const { pods, nodeClaims } = this.#context.caches;
    const made = (claim: Live<NodeClaim>): void => this.made(claim);
    const stops = [
      nodeClaims.subscribe({
        add: made,
        update: (claim, old) => {
          made(claim);
          if (isGoing(claim) && !isGoing(old)) this.#ending(claim);
        },
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
    await this.#judge(plan, slices);
    this.#rests.begin(this.#restsOf(supply), this.#context.clock.now());
    const unschedulable = new Map(plan.unschedulable);
    const claims: PlannedClaim[] = [];
    await slices.each(plan.claims, (claim) => {
      const pods = this.#podsOf(claim.pods);
      const rests = this.#rests.ask(claim, pods);
      if (!rests) claims.push(claim);
      for (const [index, rest] of (rests ?? []).entries()) {
        const pod = keyText(pods[index]!.metadata);
        const message = restText('this one', rest);
        unschedulable.set(pod, [{ pool: claim.nodePool, reason: 'Backoff', message }]);
        held.push({ pool: claim.nodePool, pod, rest });
      }
    });
    return { plan: { ...plan, claims, unschedulable }, held };
  }

  /** What machines turned out to be that are there while the plan wants others. */
  async #judge(plan: Plan, slices: Slices): Promise<void> {
    if (this.#launches.unused.length === 0) return;
    const wanted = new Map<string, Map<string, Pod>>();
    await slices.each(plan.claims, (claim) => {
      const ofPool = wanted.get(claim.nodePool) ?? new Map<string, Pod>();
      wanted.set(claim.nodePool, ofPool);
      for (const pod of this.#podsOf(claim.pods)) {
        if (!ofPool.has(groupOf(pod))) ofPool.set(groupOf(pod), pod);
      }
    });
    const all = new Map([...wanted.values()].flatMap((ofPool) => [...ofPool]));
    await slices.each(this.#launches.unused, (launch) => {
      this.#judgeOne(launch, { all, ofPool: wanted.get(launch.pool) ?? new Map() });
    });
  }

  /** A machine that is not open yet may still be of use. */
  #judgeOne({ claim: name, groups }: Launch, wanted: Wanted): void {
    const { caches, clock } = this.#context;
    const claim = caches.nodeClaims.get(name);
    if (!claim || !isTrue(claim.status?.conditions, 'Registered')) return;
    const { nodeName = '' } = claim.status ?? {};
    const node = caches.nodes.get(nodeName);
    const causes = this.#shown(claim, node);
    const there = caches.pods.by(by.node, nodeName).filter(isThere);
    const guests = there.filter((one) => !isOfTheNode(one));
    const settled = guests.filter((guest) => isSettled(guest, clock));
    if (hadPods(claim.status, clock) || settled.length > 0) this.#used(claim, settled);
    else if (guests.length > 0) this.#launches.undecided(name);
    else this.#judgeEmpty({ claim, groups, node, there, causes }, wanted);
  }

  #shown(claim: Live<NodeClaim>, node: Live<Node> | undefined): readonly Cause[] {
    const causes = node ? causesOn(claim, node) : [];
    if (node) this.#launches.shows(claim.metadata.name, causes);
    return causes;
  }

  /**
   * In vain for Pods of its own kind, or for any that its Node keeps off by what its claim did not promise. One that Pods
   * are planned for may still be of use to them, unless the same keeps all of them off.
   */
  #judgeEmpty({ claim, groups, node, there, causes }: Empty, { all, ofPool }: Wanted): void {
    const { name } = claim.metadata;
    const met = (pod: Pod): Cause[] => causes.filter((cause) => isMet(cause, pod, claim));
    const planned = this.#podsOf(this.#nominations.podsOf(name));
    const own = planned[0]
      ? undefined
      : groups.map((group) => all.get(group)).find((pod) => pod !== undefined);
    const isOpen = planned.some((pod) => met(pod).length === 0);
    const isKeptOff = causes.length > 0 && !isOpen;
    const pod = own ?? (isKeptOff ? [...ofPool.values()].find((one) => met(one)[0]) : undefined);
    if (!pod) return;
    this.#launches.useless(name, {
      why: node && whatStopped(pod, node, there),
      otherwise: schedulersWords(pod),
      causes: met(pod),
      isOfItsKind: own !== undefined,
    });
  }

  /** A Pod that ended by itself, or was taken back by its owner, had its place; one that was taken away did not. */
  #left(pod: Live<Pod>): void {
    const node = this.#context.caches.nodes.get(pod.spec?.nodeName ?? '');
    const claim = node && this.#claimUnder(node);
    if (!claim || !this.#launches.isUnused(claim.metadata.name) || isOfTheNode(pod)) return;
    const why = takenAway(pod);
    if (why === undefined || isSettled(pod, this.#context.clock)) this.#used(claim, [pod]);
    else {
      const causes = causesOn(claim, node).filter((cause) => isMet(cause, pod, claim));
      this.#launches.spoiled(claim.metadata.name, why, causes);
    }
  }

  /** @param by  Pods that have, or had, their place on it, as far as they are known */
  #used(claim: Live<NodeClaim>, pods: readonly Pod[]): void {
    this.#launches.used(claim.metadata.name, (cause) =>
      pods.some((pod) => isMet(cause, pod, claim)),
    );
  }

  /**
   * It ends, and no Pod ever had it. The Pods that it was made for may be gone by then, and others have come: so its Node
   * alone tells whether it would have been of any use.
   */
  #ending(claim: Live<NodeClaim>): void {
    const { name } = claim.metadata;
    if (!this.#launches.isUnused(name) || hadPods(claim.status, this.#context.clock)) return;
    if (!isTrue(claim.status?.conditions, 'Registered')) return;
    const { nodes, pods } = this.#context.caches;
    const node = nodes.get(claim.status?.nodeName ?? '');
    if (!node || pods.by(by.node, node.metadata.name).some((pod) => !isOfTheNode(pod))) return;
    const causes = causesOn(claim, node).filter(isTaintOfSomebody);
    const [first] = causes;
    if (!first) return;
    const why = tainted(node, first.taint);
    this.#launches.useless(name, { why, causes, isOfItsKind: false });
  }

  #claimUnder({ spec }: Live<Node>): Live<NodeClaim> | undefined {
    return this.#context.caches.nodeClaims.by(by.providerID, spec?.providerID ?? '')[0];
  }

  #restsOf({ pools, offers }: Supply): Map<string, PoolRests> {
    return new Map(
      pools.map(({ pool: { metadata, spec } }) => {
        const name = metadata?.name ?? '';
        const revision = offers.get(spec.template.spec.nodeClassRef.name)?.revision;
        const basis = { generation: metadata?.generation ?? 0, revision };
        return [name, this.#launches.restingIn(name, basis)];
      }),
    );
  }

  #podsOf(keys: readonly string[]): Live<Pod>[] {
    return keys.flatMap((key) => this.#context.caches.pods.get(key) ?? []);
  }
}

interface Empty {
  readonly claim: Live<NodeClaim>;
  readonly groups: readonly string[];
  readonly node: Live<Node> | undefined;
  /** Pods of its DaemonSets. */
  readonly there: readonly Pod[];
  /** What its Node shows beside what was promised. */
  readonly causes: readonly Cause[];
}

/** Pods that the plan wants machines for, one of each group. */
interface Wanted {
  readonly all: ReadonlyMap<string, Pod>;
  /** Those for which the pool of the machine in question is to make another. */
  readonly ofPool: ReadonlyMap<string, Pod>;
}

function isMet(cause: Cause, pod: Pod, { metadata }: Live<NodeClaim>): boolean {
  return concerns(cause, pod, metadata.labels?.[labels.instanceType]);
}

function isLeaving(pod: Pod): boolean {
  return isTerminal(pod) || pod.metadata?.deletionTimestamp !== undefined;
}

function isGoing({ metadata }: NodeClaim): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

function isThere(pod: Pod): boolean {
  return !isLeaving(pod);
}

function isOfTheNode(pod: Pod): boolean {
  return isOwnedBy(pod, 'DaemonSet', 'Node');
}
