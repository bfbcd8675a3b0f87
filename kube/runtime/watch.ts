import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { type Key, keyText } from '#schemas/kubernetes/resource.ts';

import type { Informer } from '../cache/informer.ts';

/**
 * Which keys have to be looked at because of an object.
 *
 * On an update it is asked for both states, with the other one as second argument, so that a key that only the old state
 * led to (a Pod's former node) is looked at too. Returning nothing when both are alike in what matters saves work.
 */
export type KeysOf<T extends KubeObject> = (object: Live<T>, other?: Live<T>) => string[];

/** A cache that a controller waits for and is woken by. */
export interface Watch {
  /** The kind, for logs. */
  readonly kind: string;
  whenSynced(signal: AbortSignal): Promise<void>;
  /** @returns ends the subscription */
  subscribe(enqueue: (key: string) => void, failed: (error: unknown) => void): () => void;
}

/**
 * Ties a cache to a controller.
 *
 * @param keysOf default: the object's own key
 * @example watch(caches.nodes, (node) => claimKeysOf(node))
 */
export function watch<T extends KubeObject>(
  informer: Informer<T>,
  keysOf: KeysOf<T> = (object) => [keyOf(object)],
): Watch {
  return {
    kind: informer.resource.kind,
    whenSynced: async (signal) => informer.whenSynced(signal),
    subscribe: (enqueue, failed) => {
      const enqueueAll = (read: () => string[]): void => {
        try {
          for (const key of new Set(read())) enqueue(key);
        } catch (error) {
          failed(error); // a mapper's mistake must not keep the cache from the other controllers
        }
      };
      return informer.subscribe({
        add: (object) => enqueueAll(() => keysOf(object)),
        update: (object, old) => enqueueAll(() => [...keysOf(object, old), ...keysOf(old, object)]),
        delete: (object) => enqueueAll(() => keysOf(object)),
      });
    },
  };
}

/** `namespace/name`, or `name`: the key of an object in caches and queues. */
export function keyOf({ metadata }: { readonly metadata: Key }): string {
  return keyText(metadata);
}
