import { hours, type Clock, type Duration, type Instant } from '#schemas/time/clock.ts';

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

/** Why Pods of a group get no machine from a pool, or only one to try. */
export interface Resting extends Rest {
  /** What stopped them at the last one, as far as anybody knows. */
  readonly why: string;
}

interface Known {
  launch: Launch;
  verdict: 'open' | 'useless' | 'used';
  why: string | undefined;
  /** A Pod had it, and was taken away at once. */
  isSpoiled: boolean;
}

/** Longer than six of the longest rests, so that a count never falls below what it began with. */
const longestMemory: Duration = hours(25);
const unknown = 'nothing on the Nodes tells why';

/**
 * Which machines were of no use to the Pods that they were made for.
 *
 * A machine is used once a Pod settled on it: then all that was in vain before for Pods of its kind is forgotten.
 * It is useless when another one is wanted for the same Pods while it is open and nobody is on it. What was made from
 * another generation of the pool, or another revision of its node class, says nothing about the present one.
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
    else {
      this.#known.set(launch.claim, {
        launch,
        verdict: 'open',
        why: undefined,
        isSpoiled: false,
      });
    }
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

  used(claim: string): void {
    const known = this.#known.get(claim);
    if (!known || known.verdict === 'used') return;
    this.#judged(known, 'used');
    for (const other of this.#useless) {
      if (isAlike(other.launch, known.launch)) this.#forget(other);
    }
  }

  /** A Pod had it and was taken away at once: so much the machine was worth, should it end like this. */
  spoiled(claim: string, why: string): void {
    const known = this.#known.get(claim);
    if (!known) return;
    known.isSpoiled = true;
    known.why ??= why;
  }

  /**
   * Another one is wanted for Pods of its kind, though it is there.
   *
   * @param why  what its Node says against them, if anything
   * @param otherwise  told where nothing better is known
   */
  useless(claim: string, why: string | undefined, otherwise?: string): void {
    const known = this.#known.get(claim);
    if (!known) return;
    known.why = why ?? known.why ?? otherwise;
    this.#judged(known, 'useless');
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
    if (known.isSpoiled && known.verdict === 'open') this.#judged(known, 'useless');
    if (known.verdict !== 'useless') this.#forget(known);
  }

  /**
   * For each group that has to rest in this pool, or has rested: how long, and why.
   *
   * @param basis  what a claim would be made from now
   */
  restingIn(pool: string, basis: Basis): Map<string, Resting> {
    this.#forgetOld();
    const inVain = this.#useless
      .filter(({ launch }) => launch.pool === pool && isSame(launch.basis, basis))
      .toSorted((a, b) => a.launch.at - b.launch.at);
    const groups = new Set(inVain.flatMap(({ launch }) => launch.groups));
    const resting = new Map<string, Resting>();
    for (const group of groups) {
      const own = inVain.filter(({ launch }) => launch.groups.includes(group));
      const rest = restAfter(own.map(({ launch }) => launch.at));
      const why = own.findLast((known) => known.why !== undefined)?.why ?? unknown;
      if (rest) resting.set(group, { ...rest, why });
    }
    return resting;
  }

  #forgetOld(): void {
    const oldest = this.#clock.now() - longestMemory;
    for (const known of this.#useless) if (known.launch.at < oldest) this.#forget(known);
  }

  get #useless(): Known[] {
    return [...this.#inVain].flatMap((claim) => this.#known.get(claim) ?? []);
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

function isAlike(one: Launch, other: Launch): boolean {
  return one.pool === other.pool && one.groups.some((group) => other.groups.includes(group));
}

/** A launch that got no revision is taken for one of the present. */
function isSame(one: Basis, now: Basis): boolean {
  const { generation, revision = now.revision } = one;
  return generation === now.generation && revision === now.revision;
}
