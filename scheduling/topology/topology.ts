import type { Toleration } from '#schemas/kubernetes/core.ts';
import { labels } from '#schemas/names.ts';

import type { Asked } from '../labels/asked.ts';
import { CounterIndex } from './counter-index.ts';
import { Counter, type Matcher } from './counter.ts';
import { Domains } from './domains.ts';
import { NamespaceSets } from './namespaces.ts';
import { NodeFilter } from './node-filter.ts';
import type { AffinityRule, AntiRule, SpreadRule } from './rule.ts';
import { ownValues, Selectors, type Labels } from './selector.ts';
import { isHard, type PodTerm, type Spread } from './terms.ts';

/** A Pod as rules see it. */
export interface Subject {
  readonly namespace: string;
  readonly labels: Labels;
}

/** How a spread tells nodes apart that it looks at. */
export interface Standing {
  readonly formId: number;
  /** Kinds of node that the Pod accepts. */
  readonly terms: readonly Asked[];
  readonly tolerations: readonly Toleration[];
  /** Keys of all spreads that are looked at together: those that must hold, or those that are wished for. */
  readonly keys: readonly string[];
}

/** All rules between Pods of one pass, and what they count. Rules that count the same share a counter. */
export class Topology {
  readonly namespaces: NamespaceSets;
  readonly #domains = new Map<string, Domains>();
  readonly #selectors = new Selectors();
  readonly #numbers = new Numbers();
  readonly #filters = new Map<string, NodeFilter>();
  /** Pods that rules count. */
  readonly counters = new CounterIndex();
  /** Pods whose anti-affinity keeps others away, counted for those. */
  readonly keepers = new CounterIndex();

  readonly #turn: number;

  /** @param turn  see {@link Domains} */
  constructor(namespaces: NamespaceSets, turn: number) {
    this.namespaces = namespaces;
    this.#turn = turn;
  }

  /** Keys that rules are about, host names left out. */
  get keys(): readonly Domains[] {
    return [...this.#domains.values()].filter(({ isHost }) => !isHost);
  }

  spread(spread: Spread, subject: Subject, standing: Standing): SpreadRule {
    const more = ownValues(spread.matchLabelKeys, subject.labels);
    const selector = this.#selectors.of(spread.labelSelector, more);
    const matcher = { namespaces: this.namespaces.only(subject.namespace), selector };
    const counter = this.#counter(spread.topologyKey, [matcher], this.#filter(spread, standing));
    const { maxSkew, minDomains = 1 } = spread;
    const isWish = !isHard(spread);
    counter.spreadBy({ maxSkew, minDomains });
    const self = Number(counter.selects(subject.namespace, subject.labels));
    return { kind: 'spread', counter, maxSkew, minDomains, self, isWish };
  }

  /** Required affinities look for a Pod that matches all of them, as kube-scheduler does. */
  affinities(terms: readonly PodTerm[], subject: Subject, isWish = false): AffinityRule[] {
    const matchers = terms.map((term) => this.#matcher(term, subject));
    const together = terms.map(({ topologyKey }) => this.#counter(topologyKey, matchers));
    for (const counter of together) counter.isSought = true;
    const isSelf = matchers.every(
      ({ namespaces, selector }) =>
        namespaces.has(subject.namespace) && selector.matches(subject.labels),
    );
    return together.map((counter) => ({ kind: 'affinity', counter, together, isSelf, isWish }));
  }

  antiAffinity(term: PodTerm, subject: Subject): AntiRule {
    const counter = this.#counter(term.topologyKey, [this.#matcher(term, subject)]);
    return { kind: 'anti', counter };
  }

  /** The other side of {@link antiAffinity}: counts Pods that have the rule, for those that it is about. */
  keeper(term: PodTerm, subject: Subject): Counter {
    const matchers = [this.#matcher(term, subject)];
    const domains = this.#domainsOf(term.topologyKey);
    return this.keepers.at(
      this.#idOf(domains, matchers, undefined),
      () => new Counter(domains, matchers, undefined),
    );
  }

  #counter(key: string, matchers: readonly Matcher[], filter?: NodeFilter): Counter {
    const domains = this.#domainsOf(key);
    return this.counters.at(
      this.#idOf(domains, matchers, filter),
      () => new Counter(domains, matchers, filter),
    );
  }

  /** The same for counters that count the same: all parts are made once, so their numbers tell them. */
  #idOf(domains: Domains, matchers: readonly Matcher[], filter: NodeFilter | undefined): string {
    let id = `${this.#numbers.of(domains)} ${filter?.id ?? ''}`;
    for (const { namespaces, selector } of matchers) {
      id += ` ${this.#numbers.of(namespaces)}.${this.#numbers.of(selector)}`;
    }
    return id;
  }

  #domainsOf(key: string): Domains {
    const domains = this.#domains.get(key) ?? new Domains(key, this.#turn);
    this.#domains.set(key, domains);
    return domains;
  }

  #matcher(term: PodTerm, { namespace, labels }: Subject): Matcher {
    const more = [
      ...ownValues(term.matchLabelKeys, labels),
      ...ownValues(term.mismatchLabelKeys, labels, 'NotIn'),
    ];
    const selector = this.#selectors.of(term.labelSelector, more);
    return { namespaces: this.namespaces.in(term, namespace), selector };
  }

  /** None when every node counts. */
  #filter(spread: Spread, { formId, terms, tolerations, keys }: Standing): NodeFilter | undefined {
    const honoursLabels = spread.nodeAffinityPolicy !== 'Ignore' && !isAnything(terms);
    const honoursTaints = spread.nodeTaintsPolicy === 'Honor';
    const others = keysBeside(spread, keys);
    if (!honoursLabels && !honoursTaints && others.length === 0) return undefined;
    const form = honoursLabels || honoursTaints ? formId : '';
    const id = `${honoursLabels} ${honoursTaints} ${form} ${others.join()}`;
    const known =
      this.#filters.get(id) ??
      new NodeFilter(id, {
        terms: honoursLabels ? terms : undefined,
        tolerations: honoursTaints ? tolerations : undefined,
        keys: others.map((key) => this.#domainsOf(key)),
      });
    this.#filters.set(id, known);
    return known;
  }
}

/**
 * Keys that a node must have beside the spread's own to be looked at. All nodes have a host name; and a host counts for a
 * Pod only where it may go, which has all keys anyway.
 */
function keysBeside({ topologyKey }: Spread, keys: readonly string[]): readonly string[] {
  if (keys.length < 2 || topologyKey === hostname) return none;
  const others = keys.filter((key) => key !== topologyKey && key !== hostname);
  return others.length > 0 ? [...new Set(others)].toSorted() : none;
}

const { hostname } = labels;
const none: readonly string[] = [];

function isAnything(terms: readonly Asked[]): boolean {
  return terms.some(({ requirements }) => requirements.size === 0);
}

/** A number for each thing, by identity. */
class Numbers {
  readonly #known = new Map<object, number>();

  of(thing: object): number {
    let number = this.#known.get(thing);
    if (number === undefined) {
      number = this.#known.size;
      this.#known.set(thing, number);
    }
    return number;
  }
}
