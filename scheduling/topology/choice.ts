import type { Counter } from './counter.ts';
import { absent, open, type Domains, type Whereabouts } from './domains.ts';
import { allows, leastOf, type Rule } from './rule.ts';

/**
 * Where the rules of a Pod over one key let it go just now.
 *
 * A Pod that only is counted by others may go anywhere, but a new machine that takes it is pinned to one domain, so
 * that what is counted is so. Upstream leaves such a machine open and does not count the Pod.
 */
export class Choice {
  readonly domains: Domains;
  readonly rules: readonly Rule[];
  /** Whose counts say which domain is the emptiest. */
  readonly #counters: readonly Counter[];
  readonly #needsKey: boolean;
  /** Groups that seek by other keys too: a Pod of theirs that has only some of these keys can be joined nowhere. */
  readonly #groups: readonly Counter[];
  #version = -1;
  #size = -1;
  #order: number[] = [];
  #allowed: boolean[] = [];

  constructor(domains: Domains, rules: readonly Rule[], counters: readonly Counter[]) {
    this.domains = domains;
    this.rules = rules;
    const spread = rules.flatMap(({ kind, counter }) => (kind === 'spread' ? [counter] : []));
    this.#counters = spread.length > 0 ? spread : counters.filter(({ skew }) => skew < Infinity);
    this.#needsKey = rules.some(({ kind }) => kind === 'spread' || kind === 'affinity');
    this.#groups = rules.flatMap(({ kind, counter }) =>
      kind === 'join' && counter.matchers.length > 1 ? [counter] : [],
    );
  }

  /** Whether the Pod's own rules say where it may go. */
  get isBinding(): boolean {
    return this.rules.length > 0;
  }

  /** Whether it matters which of the allowed domains is taken. */
  get isEven(): boolean {
    return this.#counters.length > 0;
  }

  get admitsAbsence(): boolean {
    return !this.#needsKey && !this.#groups.some(({ isStarted }) => isStarted);
  }

  /** Allowed domains, emptiest first. */
  order(): readonly number[] {
    this.#update();
    return this.#order;
  }

  allows(domain: number): boolean {
    this.#update();
    return this.#allowed[domain] ?? false;
  }

  /** Whether a place that can no more be pinned is as the rules want it. */
  admits(place: Whereabouts): boolean {
    if (!this.isBinding) return true;
    const domain = place.domainOf(this.domains);
    if (domain === absent) return this.admitsAbsence;
    if (domain !== open) return this.allows(domain);
    return this.admitsAbsence && place.possible(this.domains).every((one) => this.allows(one));
  }

  #update(): void {
    const version = this.#versionNow();
    const size = this.domains.names.length;
    if (version === this.#version && size === this.#size) return;
    this.#version = version;
    this.#size = size;
    this.#allowed = [];
    this.#order = [];
    const least = this.rules.map(leastOf);
    for (let domain = 0; domain < size; domain++) {
      const isAllowed = this.#isAllowed(domain, least);
      this.#allowed.push(isAllowed);
      if (isAllowed) this.#order.push(domain);
    }
    if (this.#order.length > 1) this.#sort();
  }

  #isAllowed(domain: number, least: readonly number[]): boolean {
    for (let index = 0; index < this.rules.length; index++) {
      if (!allows(this.rules[index]!, domain, least[index]!)) return false;
    }
    return true;
  }

  /** Emptiest first, then by rank. */
  #sort(): void {
    const { names, ranks } = this.domains;
    const loads = names.map((_, domain) => this.#load(domain));
    this.#order.sort((a, b) => loads[a]! - loads[b]! || ranks[a]! - ranks[b]!);
  }

  /** Versions only grow, so an equal sum means that nothing changed. */
  #versionNow(): number {
    let sum = 0;
    for (const rule of this.rules) {
      sum += rule.counter.version;
      if (rule.kind === 'affinity') for (const { version } of rule.together) sum += version;
    }
    for (const { version } of this.#counters) sum += version;
    return sum;
  }

  #load(domain: number): number {
    let sum = 0;
    for (const counter of this.#counters) sum += counter.in(domain);
    return sum;
  }
}
