import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { keyText } from '#schemas/kubernetes/resource.ts';

import type { Caches } from '../caches.ts';
import type { Slices } from './slices.ts';

type Judge = (pod: Live<Pod>) => boolean;

export interface PodsOfPassParts {
  readonly caches: Pick<Caches, 'pods'>;
  /** Waits for a machine, and for none that is on its way. */
  readonly isWaiting: Judge;
  /** Still has to leave its node. */
  readonly isLeaving: Judge;
  readonly slices: Slices;
}

/**
 * Whom a plan is about. It names Pods by namespace and name; by the time that it is carried out another Pod may have such
 * a name, of which the plan knows nothing: that one opened a batch window of its own.
 */
export class PodsOfPass {
  readonly #parts: PodsOfPassParts;
  /** UIDs by namespace/name. */
  readonly #waiting: ReadonlyMap<string, string>;
  readonly #leaving: ReadonlyMap<string, string>;

  private constructor(
    waiting: ReadonlyMap<string, string>,
    leaving: ReadonlyMap<string, string>,
    parts: PodsOfPassParts,
  ) {
    this.#waiting = waiting;
    this.#leaving = leaving;
    this.#parts = parts;
  }

  static async of(
    waiting: readonly Live<Pod>[],
    leaving: readonly Live<Pod>[],
    parts: PodsOfPassParts,
  ): Promise<PodsOfPass> {
    const { slices } = parts;
    return new PodsOfPass(await uidsOf(waiting, slices), await uidsOf(leaving, slices), parts);
  }

  /** Whether the plan is about a Pod of that name that has to leave its node. */
  isLeaving(key: string): boolean {
    return this.#leaving.has(key);
  }

  /** The Pod as it is now, if it still waits. */
  waiting(key: string): Live<Pod> | undefined {
    return this.#now(key, this.#waiting, this.#parts.isWaiting);
  }

  /** The Pod as it is now, if it still has to leave. */
  leaving(key: string): Live<Pod> | undefined {
    return this.#now(key, this.#leaving, this.#parts.isLeaving);
  }

  #now(key: string, uids: ReadonlyMap<string, string>, is: Judge): Live<Pod> | undefined {
    const pod = uids.has(key) ? this.#parts.caches.pods.get(key) : undefined;
    return pod && pod.metadata.uid === uids.get(key) && is(pod) ? pod : undefined;
  }
}

async function uidsOf(pods: readonly Live<Pod>[], slices: Slices): Promise<Map<string, string>> {
  const uids = new Map<string, string>();
  await slices.each(pods, ({ metadata }) => uids.set(keyText(metadata), metadata.uid));
  return uids;
}
