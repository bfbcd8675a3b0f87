import { isDeepStrictEqual } from 'node:util';

import type { BoundPod, NodeInSight } from '#scheduling/solver.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';

/** A node with the Pods that are on it, or planned for it. */
export interface Found {
  readonly node: NodeInSight;
  readonly bound: readonly BoundPod[];
}

interface Seen {
  /** Objects of the caches, which never change. */
  readonly basis: readonly unknown[];
  readonly found: Found;
}

/**
 * Nodes as they were found last. Most are as they were in the pass before, and then they are the very same objects: they
 * cost nothing here, and nobody who knows them is told of them again. A Node whose heartbeat came is looked at anew, and
 * is the same object all the same.
 */
export class SeenNodes {
  #last = new Map<string, Seen>();
  #now = new Map<string, Seen>();
  readonly #places = new WeakMap<Pod, BoundPod>();

  /**
   * @param basis  all that decides what is found
   * @param find  called when anything of it is another object than last time
   */
  see(key: string, basis: readonly unknown[], find: () => Found): Found {
    const last = this.#last.get(key);
    const isSame = last !== undefined && isSameList(last.basis, basis);
    const found = isSame ? last.found : steady(find(), last?.found);
    this.#now.set(key, isSame ? last : { basis, found });
    return found;
  }

  /** That the Pod is on this node. */
  place(pod: Pod, on: string): BoundPod {
    const known = this.#places.get(pod);
    if (known?.on === on) return known;
    const place = { pod, on };
    this.#places.set(pod, place);
    return place;
  }

  /** Ends a look: what it did not see is forgotten. */
  turn(): void {
    this.#last = this.#now;
    this.#now = new Map();
  }
}

function steady(found: Found, before: Found | undefined): Found {
  return before && isDeepStrictEqual(before.node, found.node)
    ? { ...found, node: before.node }
    : found;
}

export function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
