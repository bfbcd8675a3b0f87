import type { Clock, Duration, Instant } from '#schemas/time/clock.ts';

import { firstPause, longestPause } from '../pauses.ts';

/** So many groups set aside one after the other, and no pass that succeeded: it is not the Pods. */
const mostInARow = 3;

/** Why a group takes no part in passes, and until when. */
export interface Aside {
  readonly error: string;
  readonly pause: Duration;
  readonly until: Instant;
}

/** What a failed pass has shown. */
export type Verdict =
  /** Not yet which group it was: the next pass is for fewer of them. */
  | { readonly kind: 'searching' }
  | { readonly kind: 'aside'; readonly group: string; readonly aside: Aside }
  /** It fails whoever takes part: these are no longer set aside. */
  | { readonly kind: 'notThePods'; readonly groups: readonly string[] };

/** Who takes part in a pass. */
interface Trial {
  readonly all: ReadonlySet<string>;
  /** Those of them that were in no pass that succeeded since the search began. */
  readonly tried: readonly string[];
  readonly isForEverybody: boolean;
}

/**
 * Finds the groups of Pods with which passes fail, by halving, so that all others are planned for.
 *
 * Of a pass that failed all groups are suspects. Each further pass is for those that were cleared and the first half of
 * the suspects: where it succeeds that half is cleared, where it fails the suspects are that half. All others, and who
 * comes meanwhile, are held back, since a second culprit among them would put the blame on the wrong one. A group with
 * which alone a pass failed twice is set aside, and the next pass is for everybody else.
 *
 * Of n groups one culprit costs at most log2(n) + 2 failed passes: one for all, ⌈log2 n⌉ halves.
 */
export class Quarantine {
  readonly #clock: Clock;
  readonly #aside = new Map<string, Aside>();
  readonly #cleared = new Set<string>();
  #suspects: readonly string[] = [];
  #trial: Trial = { all: new Set(), tried: [], isForEverybody: true };
  /** Set aside for the first time since the last pass that succeeded. */
  #row: string[] = [];
  /** How often a group was set aside for nothing: it is tried later than those that never were. */
  readonly #wronged = new Map<string, number>();
  #isLost = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether some are held back, so that the next pass should be soon. */
  get isSearching(): boolean {
    return this.#suspects.length > 0 || this.#cleared.size > 0;
  }

  /** It turned out not to be the Pods, and no pass has succeeded since: nothing is gained by haste. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Which groups take part in the pass that begins.
   *
   * @param present  groups of all Pods that wait, each once
   */
  admit(present: readonly string[]): ReadonlySet<string> {
    this.#forget(new Set(present));
    if (!this.isSearching) this.#tryRested(present);
    this.#trial = this.#trialOf(present);
    return this.#trial.all;
  }

  /** Undefined for a group that takes part, or is only held back. */
  asideOf(group: string): Aside | undefined {
    return this.#trial.all.has(group) ? undefined : this.#aside.get(group);
  }

  /** The pass of the groups that were admitted last has a plan. */
  succeeded(): void {
    const { tried, isForEverybody } = this.#trial;
    this.#row = [];
    this.#isLost = false;
    for (const group of tried) {
      this.#aside.delete(group);
      this.#cleared.add(group);
    }
    this.#suspects = this.#suspects.filter((group) => !this.#cleared.has(group));
    if (!isForEverybody) return;
    this.#cleared.clear();
    this.#wronged.clear();
  }

  /** The pass of the groups that were admitted last has none. */
  failed(error: string): Verdict {
    const { all, tried, isForEverybody } = this.#trial;
    const [first] = tried;
    if (first === undefined) return this.#doubtCleared(all);
    this.#suspects = tried;
    if (isForEverybody || tried.length > 1) return { kind: 'searching' };
    return this.#setAside(first, error);
  }

  #trialOf(present: readonly string[]): Trial {
    const cleared = present.filter((group) => this.#cleared.has(group));
    if (this.#isRowLong && cleared.length > 0)
      return { all: new Set(cleared), tried: [], isForEverybody: false };
    const isForEverybody = this.#suspects.length === 0;
    const tried = isForEverybody
      ? this.#inOrder(present.filter((group) => !this.#isOut(group)))
      : this.#suspects.slice(0, Math.ceil(this.#suspects.length / 2));
    return { all: new Set([...cleared, ...tried]), tried, isForEverybody };
  }

  /** One group that has rested takes part with all others; where it fails again nobody else is suspected. */
  #tryRested(present: readonly string[]): void {
    const now = this.#clock.now();
    const rested = present.find((group) => (this.#aside.get(group)?.until ?? Infinity) <= now);
    if (rested === undefined) return;
    this.#suspects = [rested];
    for (const group of present) if (!this.#aside.has(group)) this.#cleared.add(group);
  }

  #setAside(group: string, error: string): Verdict {
    const before = this.#aside.get(group);
    const pause = before ? Math.min(before.pause * 2, longestPause) : firstPause;
    const aside = { error, pause, until: this.#clock.now() + pause };
    this.#aside.set(group, aside);
    this.#suspects = [];
    if (!before) this.#row.push(group);
    if (this.#isRowLong && this.#trial.all.size === 1) return this.#release();
    return { kind: 'aside', group, aside };
  }

  /** A pass failed in which only cleared groups took part. */
  #doubtCleared(all: Iterable<string>): Verdict {
    if (this.#isRowLong) return this.#release();
    this.#cleared.clear();
    this.#suspects = this.#inOrder([...all]);
    return { kind: 'searching' };
  }

  #release(): Verdict {
    const groups = this.#row;
    for (const group of groups) {
      this.#aside.delete(group);
      this.#wronged.set(group, (this.#wronged.get(group) ?? 0) + 1);
    }
    this.#row = [];
    this.#suspects = [];
    this.#cleared.clear();
    this.#isLost = true;
    return { kind: 'notThePods', groups };
  }

  /** After it was not the Pods once nobody is set aside until a pass has succeeded. */
  get #isRowLong(): boolean {
    return this.#row.length >= (this.#isLost ? 1 : mostInARow);
  }

  #isOut(group: string): boolean {
    return this.#aside.has(group) || this.#cleared.has(group);
  }

  #inOrder(groups: readonly string[]): string[] {
    const timesOf = (group: string): number => this.#wronged.get(group) ?? 0;
    return groups.toSorted((a, b) => timesOf(a) - timesOf(b));
  }

  /** Who went away is no suspect and cleared no more; a group that was not seen for hours begins anew. */
  #forget(present: ReadonlySet<string>): void {
    this.#suspects = this.#suspects.filter((group) => present.has(group));
    for (const group of this.#cleared) if (!present.has(group)) this.#cleared.delete(group);
    const old = this.#clock.now() - longestPause;
    for (const [group, { until }] of this.#aside)
      if (until < old && !present.has(group)) this.#aside.delete(group);
  }
}
