import type { Taint, Toleration } from '#schemas/kubernetes/core.ts';

import type { Asked } from '../labels/asked.ts';
import { untolerated } from '../taints.ts';

/** Nodes that are alike in everything that Pods ask about. */
export interface NodeLike {
  readonly taints: readonly Taint[];
  /** Whether its labels are, or may come to be, as asked. */
  satisfies(asked: Asked): boolean;
}

/**
 * Nodes that a topology spread looks at: others are no domains, and Pods on them are not counted.
 *
 * Source: k8s.io/kubernetes v1.37, plugins/podtopologyspread: nodeAffinityPolicy honours by default,
 * nodeTaintsPolicy ignores by default.
 */
export class NodeFilter {
  readonly id: string;
  /** Any of them will do; undefined: labels do not matter. */
  readonly terms: readonly Asked[] | undefined;
  readonly #tolerations: readonly Toleration[] | undefined;
  readonly #known = new Map<NodeLike, boolean>();

  constructor(
    id: string,
    terms: readonly Asked[] | undefined,
    tolerations: readonly Toleration[] | undefined,
  ) {
    this.id = id;
    this.terms = terms;
    this.#tolerations = tolerations;
  }

  admits(node: NodeLike): boolean {
    let admits = this.#known.get(node);
    if (admits === undefined) {
      admits = this.admitsTaints(node.taints) && this.#admitsLabels(node);
      this.#known.set(node, admits);
    }
    return admits;
  }

  admitsTaints(taints: readonly Taint[]): boolean {
    return this.#tolerations === undefined || !untolerated(taints, this.#tolerations);
  }

  #admitsLabels(node: NodeLike): boolean {
    return this.terms === undefined || this.terms.some((asked) => node.satisfies(asked));
  }
}
