/**
 * Whether the rules by which places are asked could lead to an answer: a Pod opens a machine only where no node and no
 * planned machine takes it, of the first pool that can; and Pods come in the solver's order.
 */
import type { Answer, Filled, Place } from './answer.ts';
import type { Rules } from './rules.ts';

export class Reachable {
  readonly #rules: Rules;
  readonly #places: readonly Place[];
  /** Pods as they are asked. */
  readonly #queue: readonly string[];

  constructor(rules: Rules, places: readonly Place[], queue: readonly string[]) {
    this.#rules = rules;
    this.#places = places;
    this.#queue = queue;
  }

  has(answer: Answer): boolean {
    const placed = new Set(answer.flatMap(({ pods }) => pods));
    const order = this.#queue.filter((pod) => placed.has(pod));
    return order.every((pod, index) => this.#isStep(answer, order.slice(0, index), pod));
  }

  /** @param before  Pods that have their place by now */
  #isStep(answer: Answer, before: readonly string[], pod: string): boolean {
    const { place, pods } = answer.find((one) => one.pods.includes(pod))!;
    const isOpening = place.kind !== undefined && !pods.some((other) => before.includes(other));
    if (!isOpening) return true;
    const soFar = answer
      .map((one) => ({ ...one, pods: one.pods.filter((other) => before.includes(other)) }))
      .filter((one) => one.pods.length > 0);
    return !this.#isTaken(soFar, pod) && !this.#hasEarlier(soFar, pod, place.rank);
  }

  /** Whether what is there, or planned so far, takes the Pod; a planned machine may grow for it. */
  #isTaken(soFar: readonly Filled[], pod: string): boolean {
    const onNode = this.#places
      .filter(({ kind }) => !kind)
      .some((place) => this.#takes(soFar, { place, pods: [pod] }));
    const grown = soFar.flatMap((one, index) =>
      this.#places
        .filter((other) => one.place.kind && other.kind && other.rank === one.place.rank)
        .map((place) => ({
          rest: soFar.toSpliced(index, 1),
          next: { place, pods: [...one.pods, pod] },
        })),
    );
    return onNode || grown.some(({ rest, next }) => this.#takes(rest, next));
  }

  #hasEarlier(soFar: readonly Filled[], pod: string, rank: number): boolean {
    return this.#places
      .filter((other) => other.kind && other.rank < rank)
      .some((place) => this.#takes(soFar, { place, pods: [pod] }));
  }

  #takes(others: readonly Filled[], one: Filled): boolean {
    const same = others.find(({ place }) => !place.kind && place.node === one.place.node);
    const next = same ? { ...one, pods: [...same.pods, ...one.pods] } : one;
    const rest = others.filter((other) => other !== same);
    return this.#rules.suits(next) && this.#rules.holds([...rest, next]);
  }
}
