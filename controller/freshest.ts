import type { Informer } from '#kube/cache/informer.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';

/**
 * Reads a cache without ever seeing less than what this process itself wrote.
 *
 * An informer lags a little behind a write. A reconcile that starts in between would act on the old object and
 * lose its next write to a conflict, so the answer to each write is kept until the cache has caught up.
 * Resource versions of one kind are compared as numbers, which Kubernetes 1.35 made part of the API
 * (KEP-5504) and etcd has always given.
 */
export class Freshest<T extends KubeObject> {
  readonly #cache: Informer<T>;
  readonly #written = new Map<string, Live<T>>();

  constructor(cache: Informer<T>) {
    this.#cache = cache;
    cache.subscribe({
      update: (object) => this.#caughtUp(object),
      delete: (object) => this.#written.delete(keyOf(object)),
    });
  }

  get(key: string): Live<T> | undefined {
    const cached = this.#cache.get(key);
    const written = this.#written.get(key);
    if (!written) return cached;
    if (cached && cached.metadata.uid === written.metadata.uid) return newer(cached, written);
    return cached;
  }

  /**
   * To be called with what the API server answered to a write. It is kept only while the cache is behind: what the
   * cache no longer holds, as after the write that takes the last finalizer away, would be kept for ever.
   */
  wrote(object: Live<T>): void {
    const key = keyOf(object);
    const cached = this.#cache.get(key);
    const isBehind =
      cached?.metadata.uid === object.metadata.uid && newer(cached, object) !== cached;
    if (isBehind) this.#written.set(key, object);
    else this.#written.delete(key);
  }

  #caughtUp(object: Live<T>): void {
    const written = this.#written.get(keyOf(object));
    if (written && newer(object, written) === object) this.#written.delete(keyOf(object));
  }
}

function keyOf({ metadata }: Live<KubeObject>): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
}

/** The first one when both are equally new. */
function newer<T extends KubeObject>(a: Live<T>, b: Live<T>): Live<T> {
  return BigInt(a.metadata.resourceVersion) >= BigInt(b.metadata.resourceVersion) ? a : b;
}
