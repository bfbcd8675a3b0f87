import type { KubeList, KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf, type Key, type Resource } from '#schemas/kubernetes/resource.ts';
import { manager } from '#schemas/names.ts';
import type { Clock } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

/** The Kubernetes API over undici: see {@link KubeClient} for what each call promises. */
import type { Logger } from '../log.ts';
import { silentLogger } from '../log.ts';
import type {
  CallOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  Patch,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts';
import type { Connection } from './connection.ts';
import { isGone, isNotFound, MalformedAnswer, type Call } from './errors.ts';
import { pathOf } from './paths.ts';
import { protobuf } from './protobuf-object.ts';
import { Transport, type Reply, type Request } from './transport.ts';
import { readEvents } from './watch-stream.ts';

const mediaTypes: Readonly<Record<Patch['type'], string>> = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml', // JSON is YAML, and servers before 1.34 know only this name
};

/** Objects per page: a page of Pods is about 3 MB and 100 ms of parsing. */
const defaultPageSize = 500;

export interface ClientOptions {
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Who wrote, in managedFields; default: the operator's name. */
  readonly fieldManager?: string;
  readonly userAgent?: string;
  /** In [0, 1); spreads retries. */
  readonly random?: () => number;
}

export class UndiciKubeClient implements KubeClient {
  readonly #transport: Transport;
  readonly #fieldManager: string;

  constructor(connection: Connection, options: ClientOptions = {}) {
    const { clock = new SystemClock(), log = silentLogger, random = Math.random } = options;
    const { fieldManager = manager, userAgent = manager } = options;
    this.#transport = new Transport(connection, { clock, log, userAgent, random });
    this.#fieldManager = fieldManager;
  }

  async get<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    options: CallOptions = {},
  ): Promise<Live<T>> {
    return this.#json({ ...read, path: pathOf(resource, key), signal: options.signal });
  }

  async list<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<KubeList<Live<T>>> {
    try {
      return await this.#pages(resource, options);
    } catch (error) {
      // The continue token grew too old (5 minutes) on the way: one answer without pages cannot.
      const whole = options.onePage === true || options.pageSize === 0;
      if (!isGone(error) || whole) throw error;
      return this.#pages(resource, { ...options, pageSize: 0 });
    }
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<Live<T>> {
    const { subresource } = options;
    const { namespace, name } = object.metadata ?? {};
    const target = subresource === undefined ? { namespace } : { namespace, name, subresource };
    requireNamespace(resource, namespace);
    return this.#json({
      verb: 'POST',
      path: pathOf(resource, target),
      body: withKind(resource, object),
      idempotent: false,
      ...this.#writing(options),
    });
  }

  async replace<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): Promise<Live<T>> {
    const { namespace, name } = object.metadata ?? {};
    if (!name) throw new TypeError(`a ${resource.kind} without metadata.name cannot be replaced`);
    return this.#json({
      verb: 'PUT',
      path: pathOf(resource, { namespace, name, subresource: options.subresource }),
      body: withKind(resource, object),
      idempotent: true,
      ...this.#writing(options),
    });
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<Live<T>> {
    const { query, signal } = this.#writing(options);
    return this.#json({
      verb: 'PATCH',
      path: pathOf(resource, { ...key, subresource: options.subresource }),
      query: { ...query, force: patch.type === 'apply' ? patch.force : undefined },
      body: patch.body,
      contentType: mediaTypes[patch.type],
      idempotent: patch.type !== 'json', // adding to a list twice adds two
      signal,
    });
  }

  async delete(resource: Resource, key: Key, options: DeleteOptions = {}): Promise<void> {
    const { uid, resourceVersion, gracePeriodSeconds, propagationPolicy, signal } = options;
    await this.#transport.send({
      verb: 'DELETE',
      path: pathOf(resource, key),
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        ...((uid ?? resourceVersion) ? { preconditions: { uid, resourceVersion } } : {}),
        gracePeriodSeconds,
        propagationPolicy,
      },
      idempotent: true,
      signal,
    });
  }

  async createSubresource(
    resource: Resource,
    key: Key,
    subresource: string,
    body: unknown,
    options: CallOptions = {},
  ): Promise<unknown> {
    return this.#json({
      verb: 'POST',
      path: pathOf(resource, { ...key, subresource }),
      body,
      idempotent: false,
      signal: options.signal,
    });
  }

  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions<Live<T>>,
  ): AsyncIterable<WatchEvent<Live<T>>> {
    const { sendInitialEvents, labelSelector, fieldSelector, resourceVersion } = options;
    const request: Request = {
      ...read,
      path: pathOf(resource, { namespace: options.namespace }),
      query: {
        watch: true,
        allowWatchBookmarks: true,
        timeoutSeconds: options.timeoutSeconds,
        labelSelector,
        fieldSelector,
        resourceVersion,
        sendInitialEvents,
        // The only match that goes with streamed lists; without a version it means: the newest state.
        resourceVersionMatch: sendInitialEvents ? 'NotOlderThan' : undefined,
      },
      signal: options.signal,
      ...(options.reader && { accept: `${protobuf}, application/json` }),
    };
    return readEvents(async () => this.#transport.open(request), request, options.reader);
  }

  async raw(path: string, options: CallOptions = {}): Promise<unknown> {
    const request = { ...read, path, signal: options.signal };
    try {
      const reply = await this.#transport.send(request);
      return reply.contentType.includes('json') ? parse(reply, request) : reply.text;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Cuts all connections; calls that still run fail. */
  async close(): Promise<void> {
    await this.#transport.close();
  }

  async #pages<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions,
  ): Promise<KubeList<Live<T>>> {
    const { pageSize = defaultPageSize, onePage, signal, namespace } = options;
    const { labelSelector, fieldSelector, resourceVersion } = options;
    const request = { ...read, path: pathOf(resource, { namespace }), signal };
    const items: Live<T>[] = [];
    let from = options.continue;
    for (;;) {
      const limit = pageSize === 0 ? undefined : pageSize;
      // A continue token carries its own version, and the server refuses both.
      const version = from === undefined ? resourceVersion : undefined;
      const query = {
        labelSelector,
        fieldSelector,
        limit,
        continue: from,
        resourceVersion: version,
      };
      // oxlint-disable-next-line no-await-in-loop -- each page names the next
      const page = await this.#json<KubeList<Live<T>>>({ ...request, query });
      for (const item of page.items) items.push(withKind(resource, item));
      from = page.metadata.continue || undefined;
      if (from === undefined || onePage) return { metadata: page.metadata, items };
    }
  }

  async #json<R>(request: Request): Promise<R> {
    return parse(await this.#transport.send(request), request) as R;
  }

  #writing({ fieldManager = this.#fieldManager, dryRun, signal }: WriteOptions) {
    return { query: { fieldManager, dryRun: dryRun ? 'All' : undefined }, signal };
  }
}

const read = { verb: 'GET', idempotent: true } as const;

/** Lists of built-in kinds leave out what each of their items is; watches and reads do not. */
function withKind<T extends KubeObject>(resource: Resource, object: T): T {
  if (object.apiVersion !== undefined && object.kind !== undefined) return object;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object };
}

function requireNamespace(resource: Resource, namespace: string | undefined): void {
  if (resource.namespaced && !namespace) {
    throw new TypeError(`a ${resource.kind} needs metadata.namespace to be created`);
  }
}

function parse({ text }: Reply, call: Call): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MalformedAnswer(call, text, cause);
  }
}
