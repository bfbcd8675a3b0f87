import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import type { Resource } from '#schemas/kubernetes/resource.ts';

export interface InformerHandler<T extends KubeObject> {
  add?(object: Live<T>): void;
  update?(object: Live<T>, old: Live<T>): void;
  delete?(object: Live<T>): void;
}

/**
 * A local copy of all objects of one kind, kept fresh by a watch, shared by whoever reads it.
 * Objects are shared too: nobody may change one.
 */
export interface Informer<T extends KubeObject> {
  readonly resource: Resource<T>;
  /** True once the first full state has arrived. */
  readonly synced: boolean;
  /** When the last event or bookmark came, on the informer's clock. */
  readonly lastEventAt: number;
  /** @param key `namespace/name`, or `name` */
  get(key: string): Live<T> | undefined;
  list(): Live<T>[];
  /** Objects whose index function gave `value`; the index must have been added. */
  by(index: string, value: string): Live<T>[];
  addIndex(name: string, valuesOf: (object: Live<T>) => string[]): void;
  /** Handlers run in order of arrival; a handler added late first sees an `add` for each present object. */
  subscribe(handler: InformerHandler<T>): () => void;
  /** Runs until the signal aborts; never rejects for anything the API server does. */
  run(signal: AbortSignal): Promise<void>;
  whenSynced(signal: AbortSignal): Promise<void>;
}
