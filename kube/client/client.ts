import type { KubeList, KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import type { Key, Resource } from '#schemas/kubernetes/resource.ts';

import type { TypeMeta } from '../shapes/protobuf-reader.ts';
import type { Span } from '../shapes/wire.ts';

/** The four bodies a PATCH can have. */
export type Patch =
  | { readonly type: 'merge'; readonly body: unknown }
  | { readonly type: 'strategic'; readonly body: unknown }
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] }
  /** Server-side apply; `body` must carry apiVersion and kind. */
  | { readonly type: 'apply'; readonly body: unknown; readonly force?: boolean };

export interface JsonPatchOperation {
  op: 'add' | 'remove' | 'replace' | 'test' | 'move' | 'copy';
  path: string;
  from?: string;
  value?: unknown;
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface WriteOptions extends CallOptions {
  /** `status`, `eviction`, … */
  subresource?: string;
  /** Defaults to the client's own field manager. */
  fieldManager?: string;
  dryRun?: boolean;
}

export interface ListOptions extends CallOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Objects per page, 500 by default; 0: one answer without pages. All pages are read, unless {@link onePage}. */
  pageSize?: number;
  /** Read a single page; `metadata.continue` of the answer names the next. */
  onePage?: boolean;
  /** Go on where the page before ended. */
  continue?: string;
  resourceVersion?: string;
}

export interface DeleteOptions extends CallOptions {
  uid?: string;
  resourceVersion?: string;
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
}

/** Makes objects for who keeps only some of them: what is not kept need not be made first. */
export interface ObjectReader<T> {
  fromJson(object: unknown): T;
  /** @throws MalformedMessage */
  fromProtobuf(message: Span, type: TypeMeta): T;
}

export interface WatchOptions<T = unknown> extends CallOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  /** Ask for the present objects first (`sendInitialEvents`), ended by a bookmark with `k8s.io/initial-events-end`. */
  sendInitialEvents?: boolean;
  timeoutSeconds: number;
  /**
   * Makes the objects of ADDED, MODIFIED and DELETED; default: all that came. With it protobuf is asked for, which kinds
   * that are built in come in: half the bytes of JSON, a fraction of its cost on both sides.
   */
  reader?: ObjectReader<T>;
}

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; object: KubeObject }
  | { type: 'ERROR'; object: unknown };

/**
 * The Kubernetes API as JSON in and JSON out: no field is dropped or converted, so what a newer API server
 * sends survives a read and a write.
 *
 * Every method throws {@link ApiError} when the server refuses, and retries by itself what is safe to retry
 * (429 and 503 with Retry-After, connection failures of idempotent calls).
 */
export interface KubeClient {
  get<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    options?: CallOptions,
  ): Promise<Live<T>>;
  list<T extends KubeObject>(
    resource: Resource<T>,
    options?: ListOptions,
  ): Promise<KubeList<Live<T>>>;
  create<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<Live<T>>;
  /** PUT: the object's resourceVersion is the precondition. */
  replace<T extends KubeObject>(
    resource: Resource<T>,
    object: T,
    options?: WriteOptions,
  ): Promise<Live<T>>;
  patch<T extends KubeObject>(
    resource: Resource<T>,
    key: Key,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<Live<T>>;
  delete(resource: Resource, key: Key, options?: DeleteOptions): Promise<void>;
  /** POST to a subresource that creates something, such as `eviction` or `token`. */
  createSubresource(
    resource: Resource,
    key: Key,
    subresource: string,
    body: unknown,
    options?: CallOptions,
  ): Promise<unknown>;
  /** Ends when the server ends the watch; throws ApiError or a connection error. Malformed lines throw. */
  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions<Live<T>>,
  ): AsyncIterable<WatchEvent<Live<T>>>;
  /** GET of any path, such as `/version` or `/apis/karpenter.sh/v1`; undefined when the server answers 404. */
  raw(path: string, options?: CallOptions): Promise<unknown>;
}
