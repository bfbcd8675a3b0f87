import type { Taint, Toleration } from '#schemas/kubernetes/core.ts';

import type { Asked } from '../labels/asked.ts';
import { untolerated } from '../taints.ts';
import { absent, type Domains, type Whereabouts } from './domains.ts';

/** Nodes that are alike in everything that Pods ask about. */
export interface NodeLike {
  readonly taints: readonly Taint[];
  /** Whether its labels are, or may come to be, as asked. */
  satisfies(asked: Asked): boolean;
}

/** What a filter goes by. */
export interface Inclusion {
  /** Any of them will do; undefined: what the Pod asks of labels does not matter. */
  readonly terms: readonly Asked[] | undefined;
  /** Undefined: taints do not matter. */
  readonly tolerations: readonly Toleration[] | undefined;
  /** Keys that a node must have, whatever its values. */
  readonly keys: readonly Domains[];
}

/**
 * Nodes that a topology spread looks at: others are no domains, and Pods on them are not counted.
 *
 * Source: k8s.io/kubernetes v1.37, plugins/podtopologyspread: nodeAffinityPolicy honours by default,
 * nodeTaintsPolicy ignores by default, and a node without the key of one of the Pod's spreads is passed over by all of
 * them (calPreFilterState in filtering.go).
 */
export class NodeFilter {
  readonly id: string;
  readonly terms: readonly Asked[] | undefined;
  readonly #tolerations: readonly Toleration[] | undefined;
  readonly #keys: readonly Domains[];
  readonly #known = new Map<NodeLike, boolean>();

  constructor(id: string, { terms, tolerations, keys }: Inclusion) {
    this.id = id;
    this.terms = terms;
    this.#tolerations = tolerations;
    this.#keys = keys;
  }

  admits(node: NodeLike & Whereabouts): boolean {
    let admits = this.#known.get(node);
    if (admits === undefined) {
      admits = this.admitsTaints(node.taints) && this.admitsKeys(node) && this.#admitsLabels(node);
      this.#known.set(node, admits);
    }
    return admits;
  }

  admitsKeys(node: Whereabouts): boolean {
    return this.#keys.every((domains) => node.domainOf(domains) !== absent);
  }

  admitsTaints(taints: readonly Taint[]): boolean {
    return this.#tolerations === undefined || !untolerated(taints, this.#tolerations);
  }

  #admitsLabels(node: NodeLike): boolean {
    return this.terms === undefined || this.terms.some((asked) => node.satisfies(asked));
  }
}
