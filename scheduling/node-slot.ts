import { minus, toAmounts, lacking, type Amounts } from './amounts.ts';
import type { Candidate, PodShape } from './pod-shape.ts';
import {
  fromLabels,
  fromSelector,
  intersect,
  isCertain,
  matchesLabels,
  type Requirements,
} from './requirements.ts';
import type { NodeInSight } from './solver.ts';
import { untolerated } from './taints.ts';

/** The room that is left on a node in sight while a pass fills it. */
export class NodeSlot {
  readonly node: NodeInSight;
  readonly #offered: Requirements;
  #free: Amounts;
  #isEmpty: boolean;
  #isClosed = false;
  readonly #refused = new Set<PodShape>();

  constructor(node: NodeInSight) {
    this.node = node;
    this.#offered = intersect(fromSelector(node.requirements ?? []), fromLabels(node.labels));
    this.#free = minus(toAmounts(node.allocatable), toAmounts(node.requested));
    this.#isEmpty = node.empty === true;
  }

  /** Whether the Pod goes here; its room is taken then. */
  add({ shape }: Candidate): boolean {
    if (this.#isClosed || this.#refused.has(shape)) return false;
    if (!this.#fits(shape)) {
      this.#refused.add(shape);
      return false;
    }
    this.#free = minus(this.#free, shape.amounts);
    this.#isEmpty = false;
    this.#isClosed = shape.alone;
    return true;
  }

  #fits(shape: PodShape): boolean {
    if (shape.alone && !this.#isEmpty) return false;
    if (lacking(shape.amounts, this.#free) !== undefined) return false;
    if (untolerated(this.node.taints, shape.tolerations)) return false;
    return shape.alternatives.some((asked) => this.#satisfies(asked));
  }

  /** A Node's labels are what they are; a claim must satisfy the Pod whatever is still open about it. */
  #satisfies(asked: Requirements): boolean {
    return this.node.kind === 'node' && !this.node.requirements
      ? matchesLabels(asked, this.node.labels)
      : isCertain(this.#offered, asked);
  }
}
