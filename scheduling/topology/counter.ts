import type { Domains, Whereabouts } from './domains.ts';
import type { NodeFilter, NodeLike } from './node-filter.ts';
import type { Labels, Selector } from './selector.ts';

/** Namespaces that a rule looks into. */
export interface Namespaces {
  has(namespace: string): boolean;
}

/** Pods that a rule is about. */
export interface Matcher {
  readonly namespaces: Namespaces;
  readonly selector: Selector;
}

/** How uneven a spread may be. */
export interface Evenness {
  readonly maxSkew: number;
  readonly minDomains: number;
}

/** How many Pods of a kind each domain of a key has: one for all rules that count the same. */
export class Counter {
  readonly domains: Domains;
  readonly matchers: readonly Matcher[];
  /** Only nodes that it admits are looked at. */
  readonly filter: NodeFilter | undefined;
  /** By domain; of hosts by number of the place. */
  readonly #counts: number[] = [];
  /** Pods whose node has no certain domain yet, in every domain that it may be. */
  readonly #maybe: number[] = [];
  /** Hosts with a Pod, in the order in which they got one. */
  readonly hosts: number[] = [];
  /** Pods anywhere, also on nodes that take no new ones. */
  total = 0;
  /** Grows with each change. */
  version = 0;
  /** Domains that nodes have or can have, as far as the filter admits them. Never filled for hosts. */
  readonly known = new Set<number>();

  /** The least skew that any Pod asks for that spreads by it; Infinity when none does. */
  skew = Infinity;
  /** What all those ask for; several where they do not ask for the same. */
  readonly evenness: Evenness[] = [];
  /** Whether Pods want to be where it counts some. */
  isSought = false;
  /** Whether this pass has placed a Pod that must be with its own kind where there was none. */
  isStarted = false;
  /** Spreads of Pods that this pass has placed, by domain. */
  readonly #spreads = new Map<number, Evenness[]>();

  constructor(domains: Domains, matchers: readonly Matcher[], filter: NodeFilter | undefined) {
    this.domains = domains;
    this.matchers = matchers;
    this.filter = filter;
  }

  /** Whether a Pod is counted: every matcher must be about it. */
  selects(namespace: string, given: Labels): boolean {
    return this.matchers.every(
      ({ namespaces, selector }) => namespaces.has(namespace) && selector.matches(given),
    );
  }

  /** Whether Pods on such a node are counted. */
  looksAt(node: NodeLike & Whereabouts): boolean {
    return !this.filter || this.filter.admits(node);
  }

  in(domain: number): number {
    return this.#counts[domain] ?? 0;
  }

  /** No Pod is there, and none may come to be. */
  isFree(domain: number): boolean {
    return !this.#counts[domain] && !this.#maybe[domain];
  }

  /** The fewest that a domain has: none where more domains are asked for than there are. */
  least(minDomains: number): number {
    if (this.domains.isHost || this.known.size < minDomains) return 0; // a new host is always possible
    let least = Infinity;
    for (const domain of this.known) least = Math.min(least, this.in(domain));
    return least;
  }

  /** A Pod that must spread has been placed in the domain. */
  keepEven(domain: number, { maxSkew, minDomains }: Evenness): void {
    const there = this.#spreads.get(domain) ?? [];
    this.#spreads.set(domain, there);
    include(there, { maxSkew, minDomains });
  }

  /** There are Pods that spread by it. */
  spreadBy(evenness: Evenness): void {
    this.skew = Math.min(this.skew, evenness.maxSkew);
    include(this.evenness, evenness);
  }

  /** Whether one more Pod would leave all domains as even as anybody wants them. */
  staysEven(domain: number): boolean {
    return !this.known.has(domain) || this.in(domain) + 1 - this.least(1) <= this.skew;
  }

  /** Whether one more Pod would leave those that spread over the domain as even as they ask for. */
  hasRoomFor(domain: number): boolean {
    const there = this.#spreads.get(domain);
    if (!there) return true;
    return there.every(
      ({ maxSkew, minDomains }) => this.in(domain) + 1 - this.least(minDomains) <= maxSkew,
    );
  }

  add(domain: number): void {
    const before = this.#counts[domain] ?? 0;
    if (before === 0 && this.domains.isHost) this.hosts.push(domain);
    this.#counts[domain] = before + 1;
    this.total += 1;
    this.version += 1;
  }

  addAnyOf(domains: readonly number[]): void {
    for (const domain of domains) this.#maybe[domain] = (this.#maybe[domain] ?? 0) + 1;
    this.total += 1;
    this.version += 1;
  }

  /** On a host that takes no new Pods. */
  addElsewhere(): void {
    this.total += 1;
    this.version += 1;
  }
}

function include(list: Evenness[], { maxSkew, minDomains }: Evenness): void {
  const isKnown = list.some((one) => one.maxSkew === maxSkew && one.minDomains === minDomains);
  if (!isKnown) list.push({ maxSkew, minDomains });
}
