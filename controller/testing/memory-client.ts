/**
 * The Kubernetes API in memory, for unit tests: as strict about preconditions as a real server (resourceVersion,
 * UID, finalizers, the status subresource), without schemas, defaults or admission.
 *
 * Every call gives way once before it takes effect and once after, so that calls made at the same time interleave.
 */
import type {
  CallOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  Patch,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '#kube/client/client.ts';
import type { KubeList, KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf, keyText, type Key, type Resource } from '#schemas/kubernetes/resource.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { patched } from './patching.ts';
import { alreadyExists, invalid, notFound } from './refusals.ts';
import { selector } from './selecting.ts';
import { watchOf, type Change } from './watching.ts';
import { checkPreconditions, freeze, merged, specOf, withStatus } from './writing.ts';

export type { Change } from './watching.ts';

type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'replace'
  | 'patch'
  | 'delete'
  | 'createSubresource';

/** One request as the client received it, refused ones included. */
export interface Call {
  readonly verb: Verb;
  readonly plural: string;
  /** `namespace/name` or `name`; the namespace alone for a list. */
  readonly key: string;
  readonly subresource?: string;
  readonly body?: unknown;
}

interface Fault {
  readonly matches: (call: Call) => boolean;
  readonly error: Error;
  left: number;
}

export class MemoryClient implements KubeClient {
  /** Everything that was asked, in order. */
  readonly calls: Call[] = [];
  /** Answers of {@link MemoryClient.raw}, by path. */
  readonly paths = new Map<string, unknown>();
  readonly #clock: Clock;
  readonly #kinds = new Map<string, Map<string, Live<KubeObject>>>();
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #faults: Fault[] = [];
  #version = 0;
  #uids = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  // What a test does beside the API.

  /** Puts an object there as it is, status included, or replaces it; fills in only what identifies it. */
  seed<T extends KubeObject>(resource: Resource<T>, object: T): Live<T> {
    const before = this.#of(resource).get(keyOf(object));
    return this.#store(resource, this.#identified(resource, object, before), before);
  }

  /** Takes an object away at once, finalizers or not. */
  remove(resource: Resource, key: Key): void {
    const object = this.#of(resource).get(keyText(key));
    if (object) this.#drop(resource, object);
  }

  peek<T extends KubeObject>(resource: Resource<T>, key: Key): Live<T> | undefined {
    return this.#of(resource).get(keyText(key));
  }

  all<T extends KubeObject>(resource: Resource<T>): Live<T>[] {
    return [...this.#of(resource).values()];
  }

  /** The next `times` matching calls fail with `error` before they take effect. */
  fail(matches: (call: Call) => boolean, error: Error, times = 1): void {
    this.#faults.push({ matches, error, left: times });
  }

  /** Calls the listener within each change, before the writer has its answer. */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls that ask for a change. */
  get writes(): Call[] {
    return this.calls.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
  }

  // The API.

  async get<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    options: CallOptions = {},
  ): Promise<Live<T>> {
    return this.#call({ verb: 'get', plural: resource.plural, key: keyText(key) }, options, () =>
      this.#need(resource, key),
    );
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<KubeList<Live<T>>> {
    const call: Call = { verb: 'list', plural: resource.plural, key: options.namespace ?? '' };
    return this.#call(call, options, () => ({
      metadata: { resourceVersion: String(this.#version) },
      items: this.all(resource).filter(selector(options)),
    }));
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<Live<T>> {
    const call: Call = {
      verb: 'create',
      plural: resource.plural,
      key: keyOf(object),
      body: object,
    };
    return this.#call(call, options, () => {
      const named = this.#named(object);
      if (this.#of(resource).has(keyOf(named))) throw alreadyExists(resource, keyOf(named));
      const { status: _, ...rest } = named as T & { status?: unknown };
      const body = withStatus.has(resource.kind) ? (rest as T) : named;
      const born = this.#identified(resource, body, undefined);
      return options.dryRun ? born : this.#store(resource, born, undefined);
    });
  }

  async replace<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<Live<T>> {
    const call = written('replace', resource, keyOf(object), options, object);
    return this.#call(call, options, () =>
      this.#write(resource, keyFrom(object), () => object, options),
    );
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<Live<T>> {
    const call = written('patch', resource, keyText(key), options, patch.body);
    return this.#call(call, options, () => {
      if (patch.type === 'apply' && !this.#of(resource).has(keyText(key))) {
        return this.#store(
          resource,
          this.#identified(resource, patch.body as T, undefined),
          undefined,
        );
      }
      return this.#write(resource, key, (before) => patched(resource, before, patch), options);
    });
  }

  async delete(resource: Resource, key: Key, options: DeleteOptions = {}): Promise<void> {
    const call: Call = {
      verb: 'delete',
      plural: resource.plural,
      key: keyText(key),
      body: options,
    };
    await this.#call(call, options, () => this.#delete(resource, key, options));
  }

  async createSubresource(
    resource: Resource,
    key: Key,
    subresource: string,
    body: unknown,
    options: CallOptions = {},
  ): Promise<unknown> {
    const call = written('createSubresource', resource, keyText(key), { subresource }, body);
    return this.#call(call, options, () => {
      this.#need(resource, key);
      if (subresource === 'eviction') this.#delete(resource, key, {});
      return { kind: 'Status', status: 'Success' };
    });
  }

  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
  ): AsyncIterable<WatchEvent<Live<T>>> {
    this.calls.push({ verb: 'watch', plural: resource.plural, key: options.namespace ?? '' });
    const present = options.sendInitialEvents === true ? this.all(resource) : [];
    return watchOf(resource, options, present, String(this.#version), (listener) =>
      this.onChange(listener),
    );
  }

  async raw(path: string): Promise<unknown> {
    await Promise.resolve();
    return this.paths.get(path);
  }

  // How it keeps its objects.

  async #call<R>(call: Call, { signal }: CallOptions, effect: () => R): Promise<R> {
    this.calls.push(call);
    await Promise.resolve();
    signal?.throwIfAborted();
    const fault = this.#faults.find((each) => each.left > 0 && each.matches(call));
    if (fault) {
      fault.left -= 1;
      throw fault.error;
    }
    const answer = structuredClone(effect());
    await Promise.resolve();
    return answer;
  }

  #of<T extends KubeObject>(resource: Resource<T>): Map<string, Live<T>> {
    const id = `${resource.group}/${resource.plural}`;
    const kind = this.#kinds.get(id) ?? new Map<string, Live<KubeObject>>();
    this.#kinds.set(id, kind);
    return kind as Map<string, Live<T>>;
  }

  #need<T extends KubeObject>(resource: Resource<T>, key: Key): Live<T> {
    const object = this.#of(resource).get(keyText(key));
    if (!object) throw notFound(resource, keyText(key));
    return object;
  }

  #named<T extends KubeObject>(object: T): T {
    const { name, generateName } = object.metadata ?? {};
    if (name !== undefined && name !== '') return object;
    if (generateName === undefined)
      throw invalid('metadata.name', 'a name or generateName is required');
    const suffix = (++this.#uids).toString(36).padStart(5, 'x');
    return { ...object, metadata: { ...object.metadata, name: `${generateName}${suffix}` } };
  }

  #identified<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    before: Live<T> | undefined,
  ): Live<T> {
    const given = object.metadata ?? {};
    const metadata = {
      creationTimestamp: this.#clock.stamp(),
      generation: 1,
      ...given,
      name: given.name ?? '',
      uid: given.uid ?? before?.metadata.uid ?? uidOf(++this.#uids),
      resourceVersion: '',
    };
    return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
  }

  /** What a PUT and a PATCH have in common. */
  #write<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    change: (before: Live<T>) => T,
    options: WriteOptions,
  ): Live<T> {
    const before = this.#need(resource, key);
    const wanted = change(structuredClone(before));
    checkPreconditions(resource, before, wanted.metadata ?? {});
    const after = merged(resource, before, wanted, options.subresource);
    if (options.dryRun || JSON.stringify(after) === JSON.stringify(before)) return after;
    if (specOf(after) !== specOf(before)) {
      after.metadata.generation = (before.metadata.generation ?? 0) + 1;
    }
    return this.#store(resource, after, before);
  }

  #store<T extends KubeObject>(
    resource: Resource<T>,
    object: Live<T>,
    before: Live<T> | undefined,
  ): Live<T> {
    const {
      deletionTimestamp,
      finalizers,
      deletionGracePeriodSeconds: grace = 0,
    } = object.metadata;
    // one that is on its way out with grace goes when its kubelet says so
    if (before && deletionTimestamp !== undefined && !finalizers?.length && grace === 0) {
      this.#drop(resource, object);
      return object;
    }
    const stored = structuredClone(object);
    stored.metadata.resourceVersion = String(++this.#version);
    this.#of(resource).set(keyOf(stored), freeze(stored));
    this.#tell({ type: before ? 'MODIFIED' : 'ADDED', resource, object: stored });
    return stored;
  }

  #delete(resource: Resource, key: Key, options: DeleteOptions): void {
    const object = this.#need(resource, key);
    checkPreconditions(resource, object, options);
    if (!object.metadata.finalizers?.length) {
      this.#drop(resource, object);
    } else if (object.metadata.deletionTimestamp === undefined) {
      const deletionTimestamp = this.#clock.stamp();
      this.#store(
        resource,
        { ...object, metadata: { ...object.metadata, deletionTimestamp } },
        object,
      );
    }
  }

  #drop(resource: Resource, object: Live<KubeObject>): void {
    this.#of(resource).delete(keyOf(object));
    const last = structuredClone(object);
    last.metadata.resourceVersion = String(++this.#version);
    this.#tell({ type: 'DELETED', resource, object: freeze(last) });
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function written(
  verb: Verb,
  resource: Resource,
  key: string,
  options: WriteOptions,
  body: unknown,
): Call {
  const { subresource } = options;
  const copy: unknown = structuredClone(body);
  return {
    verb,
    plural: resource.plural,
    key,
    body: copy,
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function keyFrom({ metadata }: KubeObject): Key {
  const { namespace, name = '' } = metadata ?? {};
  return namespace === undefined ? { name } : { namespace, name };
}

const keyOf = (object: KubeObject): string => keyText(keyFrom(object));

/** The first eight digits differ, since machines are named by them. */
const uidOf = (count: number): string =>
  `${count.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
