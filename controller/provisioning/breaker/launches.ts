import { hours, type Clock, type Duration, type Instant } from '#schemas/time/clock.ts';

import { keyOf, type Cause } from './cause.ts';
import { restAfter, type Rest } from './rest.ts';

/** A machine and what it was made for. */
export interface Launch {
  readonly claim: string;
  readonly pool: string;
  /** Groups of the Pods that it was planned for. */
  readonly groups: readonly string[];
  /** Generation of the pool, and revision of the node class once the launch has one. */
  readonly basis: Basis;
  readonly at: Instant;
}

export interface Basis {
  readonly generation: number;
  readonly revision: string | undefined;
}

/** Why Pods get no machine from a pool, or only one to try. */
export interface Resting extends Rest {
  /** What stopped them at the last one, as far as anybody knows. */
  readonly why: string;
}

/** Why Pods of whatever kind get no machine, so far as one of the causes concerns them. */
export interface RestByCause extends Resting {
  readonly causes: readonly [Cause, ...Cause[]];
  /** How many of the machines have not shown yet whether they are like the others. */
  readonly coming: number;
}

/** What has to rest in a pool, or has rested. */
export interface PoolRests {
  readonly byGroup: ReadonlyMap<string, Resting>;
  /** By what causes are counted by. */
  readonly byCause: ReadonlyMap<string, RestByCause>;
}

/** What is known of a machine that is of no use to a Pod that wants another one. */
export interface Finding {
  /** What its Node says against the Pod, if anything. */
  readonly why: string | undefined;
  /** Told where nothing better is known. */
  readonly otherwise?: string | undefined;
  readonly causes: readonly Cause[];
  /** The Pod is of a kind that the machine was made for. */
  readonly isOfItsKind: boolean;
}

interface Known {
  launch: Launch;
  verdict: 'open' | 'useless' | 'used';
  why: string | undefined;
  causes: readonly Cause[];
  /** What its Node shows beside what was promised, by what causes are counted by; absent: it has not opened. */
  shown: ReadonlySet<string> | undefined;
  /** In vain for the kinds of Pods that it was made for: absent of one that only its causes speak against. */
  isOfItsKind: boolean;
  /** A Pod had it, and was taken away at once. */
  isSpoiled: boolean;
}

const fresh = {
  verdict: 'open',
  why: undefined,
  causes: [],
  shown: undefined,
  isOfItsKind: false,
  isSpoiled: false,
} as const;

/** Longer than six of the longest rests, so that a count never falls below what it began with. */
const longestMemory: Duration = hours(25);
/** The API server writes whole seconds, rounded down. */
const precision: Duration = 1000;
const unknown = 'nothing on the Nodes tells why';

/**
 * Which machines were of no use to the Pods that they were made for.
 *
 * A machine is used once a Pod settled on it: then all that was in vain before for Pods of its kind is forgotten, and all
 * that was in vain by a cause that concerns the Pod. It is useless when another one is wanted while it is open and nobody
 * is on it, by Pods that it was made for or that its Node keeps off by what was not promised. What was made from another
 * generation of the pool, or another revision of its node class, says nothing about the present one.
 */
export class Launches {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  /** Claims among them that are useless: few, where there may be thousands that are not. */
  readonly #inVain = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A claim that is known keeps its verdict, and takes what has become known of its basis. */
  add(launch: Launch): void {
    const known = this.#known.get(launch.claim);
    if (known) known.launch = launch;
    else this.#known.set(launch.claim, { launch, ...fresh });
  }

  /** Those that have not been of use yet. */
  get unused(): readonly Launch[] {
    return [...this.#known.values()]
      .filter(({ verdict }) => verdict !== 'used')
      .map(({ launch }) => launch);
  }

  isUnused(claim: string): boolean {
    const known = this.#known.get(claim);
    return known !== undefined && known.verdict !== 'used';
  }

  /** Whether nobody knows yet what became of a machine that was made for one of these groups since then. */
  isTrying(pool: string, groups: readonly string[], since: Instant): boolean {
    return [...this.#known.values()].some(
      ({ launch, verdict }) =>
        verdict === 'open' &&
        launch.pool === pool &&
        launch.at > since - precision &&
        launch.groups.some((group) => groups.includes(group)),
    );
  }

  /** @param disproves  whether a Pod has its place that this cause would have kept off */
  used(claim: string, disproves: (cause: Cause) => boolean): void {
    const known = this.#known.get(claim);
    if (!known || known.verdict === 'used') return;
    this.#judged(known, 'used');
    for (const other of this.#useless) {
      if (other.launch.pool !== known.launch.pool) continue;
      if (isAlike(other.launch, known.launch)) other.isOfItsKind = false;
      this.#keepCauses(other, (cause) => !disproves(cause));
    }
  }

  /** A Pod had it and was taken away at once: so much the machine was worth, should it end like this. */
  spoiled(claim: string, why: string, causes: readonly Cause[]): void {
    const known = this.#known.get(claim);
    if (!known) return;
    known.isSpoiled = true;
    known.why ??= why;
    known.causes = together(known.causes, causes);
  }

  /** Another one is wanted, though it is there. */
  useless(claim: string, { why, otherwise, causes, isOfItsKind }: Finding): void {
    const known = this.#known.get(claim);
    if (!known) return;
    known.why = why ?? known.why ?? otherwise;
    known.causes = together(known.causes, causes);
    known.isOfItsKind ||= isOfItsKind || known.isSpoiled;
    this.#judged(known, 'useless');
  }

  /** What its Node shows now, which is open: a cause that is gone counts no more. */
  shows(claim: string, causes: readonly Cause[]): void {
    const known = this.#known.get(claim);
    if (!known) return;
    const shown = new Set(causes.map(keyOf));
    known.shown = shown;
    known.causes = known.causes.filter((cause) => shown.has(keyOf(cause)));
    const isCleared = known.causes.length === 0 && !known.isOfItsKind && !known.isSpoiled;
    if (known.verdict === 'useless' && isCleared) this.#judged(known, 'open');
  }

  /** Somebody came onto it after all, and may stay. */
  undecided(claim: string): void {
    const known = this.#known.get(claim);
    if (known?.verdict === 'useless') this.#judged(known, 'open');
  }

  /** The claim is gone. What was neither of use nor in vain, as it never opened, is no matter of this. */
  ended(claim: string): void {
    const known = this.#known.get(claim);
    if (!known) return;
    if (known.isSpoiled && known.verdict === 'open') {
      known.isOfItsKind = true;
      this.#judged(known, 'useless');
    }
    if (known.verdict !== 'useless') this.#forget(known);
  }

  /**
   * What has to rest in this pool, or has rested: how long, and why.
   *
   * @param basis  what a claim would be made from now
   */
  restingIn(pool: string, basis: Basis): PoolRests {
    this.#forgetOld();
    const inVain = this.#useless.filter(({ launch }) => isOf(launch, pool, basis)).toSorted(byAge);
    if (inVain.length === 0) return { byGroup: new Map(), byCause: new Map() };
    const others = [...this.#known.values()].filter(
      ({ launch, verdict }) => verdict !== 'useless' && isOf(launch, pool, basis),
    );
    return { byGroup: byGroup(inVain), byCause: byCause(inVain, others) };
  }

  #forgetOld(): void {
    const oldest = this.#clock.now() - longestMemory;
    for (const known of this.#useless) if (known.launch.at < oldest) this.#forget(known);
  }

  get #useless(): Known[] {
    return [...this.#inVain].flatMap((claim) => this.#known.get(claim) ?? []);
  }

  #keepCauses(known: Known, isKept: (cause: Cause) => boolean): void {
    known.causes = known.causes.filter(isKept);
    if (known.causes.length === 0 && !known.isOfItsKind) this.#forget(known);
  }

  #judged(known: Known, verdict: Known['verdict']): void {
    known.verdict = verdict;
    if (verdict === 'useless') this.#inVain.add(known.launch.claim);
    else this.#inVain.delete(known.launch.claim);
  }

  #forget({ launch }: Known): void {
    this.#known.delete(launch.claim);
    this.#inVain.delete(launch.claim);
  }
}

/** @param inVain  of one pool, in the order in which they were made */
function byGroup(inVain: readonly Known[]): Map<string, Resting> {
  const ofTheirKind = inVain.filter(({ isOfItsKind }) => isOfItsKind);
  const groups = new Set(ofTheirKind.flatMap(({ launch }) => launch.groups));
  const resting = new Map<string, Resting>();
  for (const group of groups) {
    const own = ofTheirKind.filter(({ launch }) => launch.groups.includes(group));
    const rest = restOf(own);
    if (rest) resting.set(group, rest);
  }
  return resting;
}

/**
 * Machines of a pool take minutes, and Pods come meanwhile: so once one is in vain by a cause, those that are on their
 * way count with it until one of them has opened and shows nothing of it.
 *
 * @param inVain  of one pool, in the order in which they were made
 * @param others  of the same pool
 */
function byCause(inVain: readonly Known[], others: readonly Known[]): Map<string, RestByCause> {
  const resting = new Map<string, RestByCause>();
  for (const key of new Set(inVain.flatMap(({ causes }) => causes.map(keyOf)))) {
    const own = inVain.filter(({ causes }) => causes.some((cause) => keyOf(cause) === key));
    const [first, ...more] = own.flatMap((known) =>
      known.causes.filter((cause) => keyOf(cause) === key),
    );
    const since = own[0]?.launch.at ?? 0;
    const later = others.filter(({ launch }) => launch.at >= since);
    const isEachSo = later.every(({ shown }) => shown === undefined || shown.has(key));
    const coming = isEachSo ? later.filter(({ verdict }) => verdict === 'open') : [];
    const rest = restOf([...own, ...coming].toSorted(byAge));
    if (rest && first) {
      resting.set(key, { ...rest, coming: coming.length, causes: [first, ...more] });
    }
  }
  return resting;
}

function restOf(inVain: readonly Known[]): Resting | undefined {
  const rest = restAfter(inVain.map(({ launch }) => launch.at));
  const why = inVain.findLast((known) => known.why !== undefined)?.why ?? unknown;
  return rest && { ...rest, why };
}

/** The later of two that are counted alike. */
function together(before: readonly Cause[], now: readonly Cause[]): readonly Cause[] {
  return [...new Map([...before, ...now].map((cause) => [keyOf(cause), cause])).values()];
}

function isOf(launch: Launch, pool: string, basis: Basis): boolean {
  return launch.pool === pool && isSame(launch.basis, basis);
}

function byAge(one: Known, other: Known): number {
  return one.launch.at - other.launch.at;
}

function isAlike(one: Launch, other: Launch): boolean {
  return one.groups.some((group) => other.groups.includes(group));
}

/** A launch that got no revision is taken for one of the present. */
function isSame(one: Basis, now: Basis): boolean {
  const { generation, revision = now.revision } = one;
  return generation === now.generation && revision === now.revision;
}
