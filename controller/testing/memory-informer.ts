/** A cache that follows a {@link MemoryClient} at once, so that a test never waits for a watch. */
import type { Informer, InformerHandler } from '#kube/cache/informer.ts';
import { ShapeReader } from '#kube/shapes/shape-reader.ts';
import type { ObjectShape } from '#kube/shapes/shape.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { keyText, type Resource } from '#schemas/kubernetes/resource.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { guardDropped } from './dropped-fields.ts';
import type { Change, MemoryClient } from './memory-client.ts';
import { selector } from './selecting.ts';

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
  readonly #isInScope: (object: KubeObject) => boolean;
  readonly #reader: ShapeReader<T> | undefined;
  readonly #objects = new Map<string, Live<T>>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #held: Change[] = [];
  #holding = false;

  constructor(client: MemoryClient, resource: Resource<T>, clock: Clock, scope: Scope<T> = {}) {
    this.resource = resource;
    this.#clock = clock;
    this.#scope = scope;
    this.#isInScope = selector(scope);
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
    const known = this.#indexes.get(index);
    if (!known) throw new Error(`${this.resource.kind} has no index "${index}"`);
    // in the order in which the objects came, as a list gives them
    const keys = known.keys.get(value) ?? new Set();
    return [...keys].flatMap((key) => this.#objects.get(key) ?? []);
  }

  addIndex(name: string, valuesOf: (object: Live<T>) => string[]): void {
    const index: Index<T> = { valuesOf, keys: new Map() };
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) enter(index, key, { object });
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
    if (!this.#isInScope(change.object)) return;
    this.lastEventAt = this.#clock.now();
    const object = this.#kept(change.object as Live<T>);
    const key = keyText(object.metadata);
    const old = this.#objects.get(key);
    for (const index of this.#indexes.values()) {
      enter(index, key, { old, object: change.type === 'DELETED' ? undefined : object });
    }
    if (change.type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, object);
    for (const handler of this.#handlers) tell(handler, change.type, object, old);
  }
}

interface Index<T extends KubeObject> {
  readonly valuesOf: (object: Live<T>) => string[];
  /** Keys of objects by value. */
  readonly keys: Map<string, Set<string>>;
}

/** What an object is found by from now on; what it was found by already keeps its place there. */
function enter<T extends KubeObject>(
  { valuesOf, keys }: Index<T>,
  key: string,
  { old, object }: { old?: Live<T> | undefined; object: Live<T> | undefined },
): void {
  const values = object ? valuesOf(object) : [];
  for (const value of old ? valuesOf(old) : []) {
    if (!values.includes(value)) keys.get(value)?.delete(key);
  }
  for (const value of values) {
    const own = keys.get(value) ?? new Set();
    keys.set(value, own.add(key));
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
