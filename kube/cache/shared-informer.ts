import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import type { Resource } from '#schemas/kubernetes/resource.ts';
import { seconds, type Clock, type Instant } from '#schemas/time/clock.ts';

/**
 * A local copy of all objects of one kind, shared by whoever reads it: see {@link Informer} for what it promises.
 *
 * Nothing that its users give it can stop it: a handler, index or transform that throws is logged and counted, and
 * the copy goes on.
 */
import type { KubeClient } from '../client/client.ts';
import type { Logger } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { ShapeReader } from '../shapes/shape-reader.ts';
import type { ObjectShape } from '../shapes/shape.ts';
import type { Informer, InformerHandler } from './informer.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import { keyOf, Store } from './store.ts';

export interface InformerOptions<T extends KubeObject> {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Leaves out what nobody reads of an object, where there are few and it need not be fast. */
  readonly transform?: ((object: Live<T>) => Live<T>) | undefined;
  /** What is kept of each object, in place of {@link transform}; default: all but who wrote which field. */
  readonly kept?: ObjectShape<T> | undefined;
  /** In metrics and logs, where two informers hold the same kind; default: `pods`, `nodepools.karpenter.sh`. */
  readonly name?: string | undefined;
  /** In [0, 1); spreads watches and retries. */
  readonly random?: (() => number) | undefined;
}

export class SharedInformer<T extends KubeObject> implements Informer<T> {
  readonly resource: Resource<T>;
  readonly #client: KubeClient;
  readonly #options: InformerOptions<T>;
  readonly #name: string;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #store: Store<T>;
  readonly #reader: ShapeReader<Live<T>> | undefined;
  readonly #firstState = Promise.withResolvers<void>();
  #handlers: readonly InformerHandler<T>[] = [];
  #synced = false;
  #lastEventAt: Instant;

  constructor(client: KubeClient, resource: Resource<T>, options: InformerOptions<T>) {
    this.resource = resource;
    this.#client = client;
    this.#options = options;
    this.#name = options.name ?? nameOf(resource);
    this.#log = options.log.child({ informer: this.#name });
    this.#metrics = options.metrics ?? new Metrics();
    this.#lastEventAt = options.clock.now();
    const { kept } = options;
    this.#reader = kept && new ShapeReader(kept as ObjectShape<Live<T>>);
    this.#store = new Store<T>(
      {
        add: (object) => this.#tell('add', object, (handler) => handler.add?.(object)),
        update: (object, old) =>
          this.#tell('update', object, (handler) => handler.update?.(object, old)),
        delete: (object) => this.#tell('delete', object, (handler) => handler.delete?.(object)),
      },
      (index, error) => this.#broken(`index ${index}`, error, {}),
    );
  }

  get synced(): boolean {
    return this.#synced;
  }

  /** Before the first event: when the informer was made. */
  get lastEventAt(): Instant {
    return this.#lastEventAt;
  }

  get(key: string): Live<T> | undefined {
    return this.#store.get(key);
  }

  list(): Live<T>[] {
    return this.#store.list();
  }

  by(index: string, value: string): Live<T>[] {
    return this.#store.by(index, value);
  }

  addIndex(name: string, valuesOf: (object: Live<T>) => string[]): void {
    this.#store.addIndex(name, valuesOf);
  }

  subscribe(handler: InformerHandler<T>): () => void {
    this.#handlers = [...this.#handlers, handler];
    for (const object of this.#store.list()) {
      this.#try('add', object, () => handler.add?.(object));
    }
    return () => {
      this.#handlers = this.#handlers.filter((other) => other !== handler);
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const remove = this.#show();
    try {
      await this.#reflector().run(signal);
    } finally {
      remove();
    }
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    await Promise.race([this.#firstState.promise, aborted.promise]).finally(() =>
      signal.removeEventListener('abort', abort),
    );
  }

  #reflector(): Reflector<T> {
    const { clock, random = Math.random, namespace, labelSelector, fieldSelector } = this.#options;
    const options: ReflectorOptions<Live<T>> = {
      clock,
      log: this.#log,
      random,
      namespace,
      labelSelector,
      fieldSelector,
      reader: this.#reader,
    };
    const relists = this.#metrics.counter(
      'kube_informer_relists_total',
      'How often the full state of a kind was asked for.',
      ['informer'],
    );
    const sink = {
      replace: async (state: ReadonlyMap<string, Live<T>>) => {
        await this.#store.replace(state);
        this.#synced = true;
        this.#firstState.resolve();
      },
      put: (object: Live<T>) => this.#store.put(object),
      remove: (object: Live<T>) => this.#store.remove(object),
      arrive: (object: Live<T>) => this.#trim(object),
      alive: () => {
        this.#lastEventAt = clock.now();
      },
      relist: () => relists.inc({ informer: this.#name }),
    };
    return new Reflector(this.#client, this.resource, sink, options);
  }

  #trim(object: Live<T>): Live<T> {
    if (this.#reader) return this.#reader.fromJson(object);
    const bare = withoutManagedFields(object);
    try {
      return this.#options.transform?.(bare) ?? bare;
    } catch (error) {
      this.#broken('transform', error, { key: keyOf(object) });
      return bare;
    }
  }

  #tell(what: string, object: Live<T>, call: (handler: InformerHandler<T>) => void): void {
    for (const handler of this.#handlers) this.#try(what, object, () => call(handler));
  }

  #try(what: string, object: Live<T>, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#broken(`${what} handler`, error, { key: keyOf(object) });
    }
  }

  #broken(what: string, error: unknown, facts: object): void {
    this.#log.error({ ...facts, err: error }, `${what} threw`);
    this.#metrics
      .counter(
        'kube_informer_handler_errors_total',
        'Handlers, indexes and transforms that threw.',
        ['informer'],
      )
      .inc({ informer: this.#name });
  }

  #show(): () => void {
    const labels = { informer: this.#name };
    const age = (): number => (this.#options.clock.now() - this.#lastEventAt) / seconds(1);
    const removals = [
      this.#metrics.sample(
        'kube_informer_objects',
        'Objects held.',
        labels,
        () => this.#store.size,
      ),
      this.#metrics.sample(
        'kube_informer_last_event_age_seconds',
        'Since the last event or bookmark; bookmarks come about each minute.',
        labels,
        age,
      ),
    ];
    return () => removals.forEach((remove) => remove());
  }
}

function nameOf({ plural, group }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** Who wrote which field is a third of a Pod, and nobody here reads it. */
function withoutManagedFields<T extends KubeObject>(object: Live<T>): Live<T> {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
