/** A cache that follows a {@link MemoryClient} at once, so that a test never waits for a watch. */
import type { Informer, InformerHandler } from '#kube/cache/informer.ts';
import { ShapeReader } from '#kube/shapes/shape-reader.ts';
import type { ObjectShape } from '#kube/shapes/shape.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { keyText, type Resource } from '#schemas/kubernetes/resource.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { guardDropped } from './dropped-fields.ts';
import type { Change, MemoryClient } from './memory-client.ts';
import { selects } from './selecting.ts';

interface Scope<T> {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** What is kept, as by the real cache: whoever reads more than that is found out. */
  readonly kept?: ObjectShape<T>;
}

export class MemoryInformer<T extends KubeObject> implements Informer<T> {
  readonly resource: Resource<T>;
  readonly synced = true;
  /** To be set by tests of what is not known. */
  isForbidden = false;
  lastEventAt: number;
  readonly #clock: Clock;
  readonly #scope: Scope<T>;
  readonly #reader: ShapeReader<T> | undefined;
  readonly #objects = new Map<string, Live<T>>();
  readonly #indexes = new Map<string, (object: Live<T>) => string[]>();
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #held: Change[] = [];
  #holding = false;

  constructor(client: MemoryClient, resource: Resource<T>, clock: Clock, scope: Scope<T> = {}) {
    this.resource = resource;
    this.#clock = clock;
    this.#scope = scope;
    this.#reader = scope.kept && new ShapeReader(scope.kept);
    this.lastEventAt = clock.now();
    for (const object of client.all(resource)) this.#take({ type: 'ADDED', resource, object });
    client.onChange((change) => {
      if (change.resource.plural !== resource.plural || change.resource.group !== resource.group)
        return;
      if (this.#holding) this.#held.push(change);
      else this.#take(change);
    });
  }

  /** From now on the cache is stale: what happens arrives at {@link MemoryInformer.catchUp}. */
  fallBehind(): void {
    this.#holding = true;
  }

  catchUp(): void {
    this.#holding = false;
    for (const change of this.#held.splice(0)) this.#take(change);
  }

  get(key: string): Live<T> | undefined {
    return this.#objects.get(key);
  }

  list(): Live<T>[] {
    return [...this.#objects.values()];
  }

  by(index: string, value: string): Live<T>[] {
    const valuesOf = this.#indexes.get(index);
    if (!valuesOf) throw new Error(`${this.resource.kind} has no index "${index}"`);
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

  async run(signal: AbortSignal): Promise<void> {
    const ended = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => ended.resolve(), { once: true });
    if (!signal.aborted) await ended.promise;
  }

  async whenSynced(): Promise<void> {
    await Promise.resolve();
  }

  #kept(object: Live<T>): Live<T> {
    const { kept: shape } = this.#scope;
    if (!shape || !this.#reader) return object;
    const kept = this.#reader.fromJson(object) as Live<T>;
    guardDropped(shape, kept, object);
    return kept;
  }

  #take(change: Change): void {
    if (!selects(this.#scope, change.object)) return;
    this.lastEventAt = this.#clock.now();
    const object = this.#kept(change.object as Live<T>);
    const key = keyText(object.metadata);
    const old = this.#objects.get(key);
    if (change.type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, object);
    for (const handler of this.#handlers) tell(handler, change.type, object, old);
  }
}

function tell<T extends KubeObject>(
  handler: InformerHandler<T>,
  type: Change['type'],
  object: Live<T>,
  old: Live<T> | undefined,
): void {
  if (type === 'DELETED') handler.delete?.(object);
  else if (old) handler.update?.(object, old);
  else handler.add?.(object);
}
