import type { Informer, InformerHandler } from '#kube/cache/informer.ts';
import { nodeClaims, nodePools } from '#schemas/karpenter/types.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import * as core from '#schemas/kubernetes/resource.ts';
import { apiVersionOf, keyText, type Resource } from '#schemas/kubernetes/resource.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';

import { addIndexes, type Caches } from '../caches.ts';

/**
 * A cache that a test fills by hand, with the handlers and indexes of the real one and nothing asynchronous:
 * a handler has run when {@link FakeInformer.set} returns.
 */
export class FakeInformer<T extends KubeObject> implements Informer<T> {
  readonly resource: Resource<T>;
  readonly synced = true;
  lastEventAt = 0;
  readonly #objects = new Map<string, Live<T>>();
  readonly #indexes = new Map<string, (object: Live<T>) => string[]>();
  readonly #handlers = new Set<InformerHandler<T>>();

  constructor(resource: Resource<T>) {
    this.resource = resource;
  }

  /** Puts an object there as the API server would show it, with what identifies it filled in where it is missing. */
  set(object: T): Live<T> {
    const live = asLive(this.resource, object);
    const key = keyText(live.metadata);
    const old = this.#objects.get(key);
    this.#objects.set(key, live);
    for (const handler of this.#handlers) {
      if (old) handler.update?.(live, old);
      else handler.add?.(live);
    }
    return live;
  }

  /** Takes an object away; nothing happens when it is not there. */
  remove(key: string): void {
    const old = this.#objects.get(key);
    if (!old) return;
    this.#objects.delete(key);
    for (const handler of this.#handlers) handler.delete?.(old);
  }

  get(key: string): Live<T> | undefined {
    return this.#objects.get(key);
  }

  list(): Live<T>[] {
    return [...this.#objects.values()];
  }

  by(index: string, value: string): Live<T>[] {
    const valuesOf = this.#indexes.get(index);
    if (!valuesOf) throw new Error(`no index ${index} on ${this.resource.plural}`);
    return this.list().filter((object) => valuesOf(object).includes(value));
  }

  addIndex(name: string, valuesOf: (object: Live<T>) => string[]): void {
    this.#indexes.set(name, valuesOf);
  }

  subscribe(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.list()) handler.add?.(object);
    return () => this.#handlers.delete(handler);
  }

  async run(): Promise<void> {}

  async whenSynced(): Promise<void> {}
}

/** {@link Caches} of fakes. */
export type FakeCaches = {
  readonly [Name in keyof Caches]: Caches[Name] extends Informer<infer T> ? FakeInformer<T> : never;
};

/** One fake per kind, with the indexes of {@link addIndexes}. */
export function fakeCaches(): FakeCaches {
  const caches: FakeCaches = {
    pods: new FakeInformer(core.pods),
    nodes: new FakeInformer(core.nodes),
    nodeClaims: new FakeInformer(nodeClaims),
    nodePools: new FakeInformer(nodePools),
    nodeClasses: new FakeInformer(unikraftNodeClasses),
    daemonSets: new FakeInformer(core.daemonSets),
    podDisruptionBudgets: new FakeInformer(core.podDisruptionBudgets),
    revisions: new FakeInformer(core.controllerRevisions),
    statefulSets: new FakeInformer(core.statefulSets),
    reservations: new FakeInformer(core.configMaps),
  };
  addIndexes(caches);
  return caches;
}

function asLive<T extends KubeObject>(resource: Resource<T>, object: T): Live<T> {
  const name = object.metadata?.name;
  if (!name) throw new Error(`a ${resource.kind} in a cache needs a name`);
  return {
    ...object,
    apiVersion: object.apiVersion ?? apiVersionOf(resource),
    kind: object.kind ?? resource.kind,
    metadata: {
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      generation: 1,
      ...object.metadata,
      name,
    },
  };
}
