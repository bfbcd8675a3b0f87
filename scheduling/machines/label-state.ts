import type { Taint } from '#schemas/kubernetes/core.ts';

import { idOf, type Asked } from '../labels/asked.ts';
import { conflictOf, intersect, wellKnown, type Requirements } from '../requirements.ts';
import type { Amounts } from '../slots.ts';
import { absent, open, type Domains, type Whereabouts } from '../topology/domains.ts';
import type { NodeLike } from '../topology/node-filter.ts';
import { ValueSet } from '../value-set.ts';
import type { PricedSize, SizeIndex } from './size-index.ts';
import type { Size } from './size.ts';
import { valuesNow } from './suiting.ts';

/** What all states of one pool share. */
export interface StateSource {
  readonly taints: readonly Taint[];
  readonly index: SizeIndex;
  readonly known: Map<string, LabelState>;
}

/** What was asked cannot be had: the key on which it fails. */
export type Narrowed = LabelState | string;

/**
 * What is decided about the labels of a machine that is planned. Machines of a pool for which the same is decided share
 * one state, and each step from state to state is found out once.
 */
export class LabelState implements NodeLike, Whereabouts {
  readonly requirements: Requirements;
  readonly #source: StateSource;
  readonly #next = new Map<Asked, Narrowed>();
  readonly #pinned = new Map<Domains, Map<number, LabelState>>();
  readonly #domain = new Map<Domains, number>();
  readonly #domains = new Map<Domains, readonly number[]>();
  #sold: readonly PricedSize[] | undefined;
  #most: Amounts | undefined;

  private constructor(source: StateSource, requirements: Requirements) {
    this.#source = source;
    this.requirements = requirements;
  }

  static of(source: StateSource, requirements: Requirements): LabelState {
    const id = idOf(requirements);
    const known = source.known.get(id) ?? new LabelState(source, requirements);
    source.known.set(id, known);
    return known;
  }

  get taints(): readonly Taint[] {
    return this.#source.taints;
  }

  /** The state once this is asked too, or the key that stands against it. */
  narrow(asked: Asked): Narrowed {
    let next = this.#next.get(asked);
    if (next === undefined) {
      next = this.#narrowed(asked.ofNew);
      this.#next.set(asked, next);
    }
    return next;
  }

  satisfies(asked: Asked): boolean {
    return typeof this.narrow(asked) !== 'string';
  }

  /** The state once a key has the value of one of its domains. */
  pin(domains: Domains, domain: number): LabelState {
    const pins = this.#pinned.get(domains) ?? new Map<number, LabelState>();
    this.#pinned.set(domains, pins);
    const known = pins.get(domain) ?? this.#pinnedTo(domains, domain);
    pins.set(domain, known);
    return known;
  }

  /** Sizes that are sold, cheapest first. */
  get sold(): readonly PricedSize[] {
    this.#sold ??= this.#source.index.sold(this.requirements);
    return this.#sold;
  }

  /** Sizes with these labels, sold or not. */
  get suited(): readonly Size[] {
    return this.#source.index.suited(this.requirements);
  }

  /** The most of each resource that one of the sizes has to give: more is never had, less may not be had at once. */
  get most(): Amounts {
    this.#most ??= mostOf(this.sold);
    return this.#most;
  }

  domainOf(domains: Domains): number {
    let domain = this.#domain.get(domains);
    if (domain === undefined) {
      const [only = absent, another] = this.possible(domains);
      const isOpen = another !== undefined || !this.#isFixed(domains.key);
      domain = only !== absent && isOpen ? open : only;
      this.#domain.set(domains, domain);
    }
    return domain;
  }

  possible(domains: Domains): readonly number[] {
    let possible = this.#domains.get(domains);
    if (!possible) {
      possible = this.#values(domains.key).map((value) => domains.idOf(value));
      this.#domains.set(domains, possible);
    }
    return possible;
  }

  #narrowed(asked: Requirements): Narrowed {
    const key = conflictOf(this.requirements, asked);
    if (key !== undefined) return key;
    const both = intersect(this.requirements, asked);
    return openKey(asked, both) ?? LabelState.of(this.#source, both);
  }

  #pinnedTo({ key, names }: Domains, domain: number): LabelState {
    const value = ValueSet.of({ operator: 'In', values: [names[domain] ?? ''] });
    return LabelState.of(this.#source, intersect(this.requirements, new Map([[key, value]])));
  }

  /** A single size may decide a label that nobody asked for; then it is as good as asked for once it is pinned. */
  #isFixed(key: string): boolean {
    return this.requirements.get(key)?.only !== undefined;
  }

  /** A zone that no size is sold in now is none. */
  #values(key: string): readonly string[] {
    const set = this.requirements.get(key);
    const sizes = this.#source.index.decides(key) ? this.suited : [];
    const values = new Set(sizes.flatMap(({ type }) => valuesNow(type, key)));
    if (values.size > 0) return [...values].filter((value) => set?.has(value) ?? true);
    return set && !set.complement ? [...set.values] : [];
  }
}

/** A custom label must end as one value that the Node gets: one that stays open is one that nobody sets. */
function openKey(asked: Requirements, both: Requirements): string | undefined {
  for (const [key, set] of asked) {
    if (!wellKnown.has(key) && !set.allowsAbsence && both.get(key)?.complement) return key;
  }
  return undefined;
}

function mostOf(sold: readonly PricedSize[]): Amounts {
  const most = new Float64Array(sold[0]?.size.usable.length ?? 0);
  for (const { size } of sold) {
    for (let slot = 0; slot < most.length; slot++) {
      most[slot] = Math.max(most[slot]!, size.usable[slot]!);
    }
  }
  return most;
}
