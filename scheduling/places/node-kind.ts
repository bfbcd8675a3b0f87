import type { Taint } from '#schemas/kubernetes/core.ts';

import type { Asked } from '../labels/asked.ts';
import {
  fromLabels,
  fromSelector,
  intersect,
  isCertain,
  matchesLabels,
  type Requirements,
} from '../requirements.ts';
import type { NodeInSight } from '../solver.ts';
import { absent, open, type Domains, type Whereabouts } from '../topology/domains.ts';
import type { NodeLike } from '../topology/node-filter.ts';

/** What of a node matters to where Pods go, its room left aside. */
export type NodeFacts = Pick<NodeInSight, 'labels' | 'taints' | 'requirements'>;

/** Nodes that are alike in all that is asked: what is found out for one is known for all. */
export class NodeKind implements NodeLike, Whereabouts {
  readonly taints: readonly Taint[];
  readonly #labels: Readonly<Record<string, string>>;
  /** Of a claim on its way: what its labels will satisfy, whatever is still open about them. */
  readonly #offered: Requirements | undefined;
  readonly #answers = new Map<Asked, boolean>();
  readonly #domain = new Map<Domains, number>();
  readonly #domains = new Map<Domains, readonly number[]>();

  constructor({ labels, taints, requirements }: NodeFacts) {
    this.taints = taints;
    this.#labels = labels;
    this.#offered = requirements && intersect(fromSelector(requirements), fromLabels(labels));
  }

  satisfies(asked: Asked): boolean {
    let answer = this.#answers.get(asked);
    if (answer === undefined) {
      answer = this.#offered
        ? isCertain(this.#offered, asked.requirements)
        : matchesLabels(asked.requirements, this.#labels);
      this.#answers.set(asked, answer);
    }
    return answer;
  }

  domainOf(domains: Domains): number {
    let domain = this.#domain.get(domains);
    if (domain === undefined) {
      const [only = absent, another] = this.possible(domains);
      domain = another === undefined ? only : open;
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

  #values(key: string): readonly string[] {
    if (Object.hasOwn(this.#labels, key)) return [this.#labels[key] ?? ''];
    const set = this.#offered?.get(key);
    return set && !set.complement ? [...set.values] : [];
  }
}

/** All kinds of one pass, told apart only by labels that anybody asks about. */
export class NodeKinds {
  readonly #keys: readonly string[];
  readonly #known = new Map<string, NodeKind>();

  /** @param keys labels that Pods ask for or that rules are about */
  constructor(keys: Iterable<string>) {
    this.#keys = [...new Set(keys)].toSorted();
  }

  get all(): Iterable<NodeKind> {
    return this.#known.values();
  }

  of(node: NodeFacts): NodeKind {
    const id = this.#idOf(node);
    const known = this.#known.get(id) ?? new NodeKind(node);
    this.#known.set(id, known);
    return known;
  }

  #idOf({ labels, taints, requirements }: NodeFacts): string {
    const own = this.#keys.map((key) => (Object.hasOwn(labels, key) ? labels[key] : null));
    return JSON.stringify([own, taints, requirements]);
  }
}
