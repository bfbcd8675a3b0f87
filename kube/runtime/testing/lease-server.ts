import type { Lease } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { type Key, keyText, type Resource } from '#schemas/kubernetes/resource.ts';

import type { CallOptions, KubeClient } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';

type Calls = Pick<KubeClient, 'get' | 'create' | 'replace'>;

/** How the network between one client and the server is: `deaf`: calls arrive, answers do not. */
type Network = 'up' | 'down' | 'hanging' | 'deaf';

/** An API server that knows Leases: resourceVersions, conflicts, and the check of MicroTime. */
export class LeaseServer {
  readonly #leases = new Map<string, Live<Lease>>();
  #version = 0;

  /** What the Lease says now. */
  spec(name: string): Lease['spec'] {
    return this.#leases.get(name)?.spec;
  }

  delete(name: string): void {
    this.#leases.delete(name);
  }

  read(name: string): Live<Lease> {
    const lease = this.#leases.get(name);
    if (!lease) throw refusal('GET', 404, 'NotFound');
    return structuredClone(lease);
  }

  create(name: string, lease: Lease): Live<Lease> {
    if (this.#leases.has(name)) throw refusal('POST', 409, 'AlreadyExists');
    return this.#store(name, lease);
  }

  replace(name: string, lease: Lease): Live<Lease> {
    const version = this.read(name).metadata.resourceVersion;
    if (version !== lease.metadata?.resourceVersion) throw refusal('PUT', 409, 'Conflict');
    return this.#store(name, lease);
  }

  #store(name: string, lease: Lease): Live<Lease> {
    const times = [lease.spec?.acquireTime, lease.spec?.renewTime];
    if (!times.every((time) => time !== undefined && microTimePattern.test(time))) {
      throw refusal('PUT', 400, 'BadRequest');
    }
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const metadata = { ...lease.metadata, name, uid: 'lease-uid', resourceVersion };
    const stored = structuredClone({ ...lease, metadata });
    this.#leases.set(name, stored);
    return structuredClone(stored);
  }
}

const microTimePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/u;

/** One process's way to the server. */
export class LeaseClient implements Calls {
  network: Network = 'up';
  /** Holds back answers to writes, which the server has taken by then. */
  answersLate: () => Promise<void> = async () => {};
  /** Verbs that were tried. */
  readonly calls: string[] = [];
  readonly #server: LeaseServer;

  constructor(server: LeaseServer) {
    this.#server = server;
  }

  async get<T extends KubeObject>(_: Resource<T>, key: Key, options?: CallOptions) {
    return this.#call<T>('GET', options, () => this.#server.read(nameIn(key)));
  }

  async create<T extends KubeObject>(_: Resource<T>, object: T, options?: CallOptions) {
    return this.#call<T>('POST', options, () => this.#server.create(nameOf(object), object));
  }

  async replace<T extends KubeObject>(_: Resource<T>, object: T, options?: CallOptions) {
    return this.#call<T>('PUT', options, () => this.#server.replace(nameOf(object), object));
  }

  async #call<T extends KubeObject>(
    verb: string,
    options: CallOptions | undefined,
    answer: () => Live<Lease>,
  ): Promise<Live<T>> {
    this.calls.push(verb);
    options?.signal?.throwIfAborted();
    await Promise.resolve();
    if (this.network === 'down') throw new Error('connect ECONNREFUSED');
    if (this.network === 'deaf') answer();
    if (this.network !== 'up') await never(options?.signal);
    const lease = answer();
    if (verb !== 'GET') await this.answersLate();
    return lease as unknown as Live<T>;
  }
}

function nameIn(key: Key): string {
  return keyText(key).split('/').at(-1) ?? '';
}

function nameOf({ metadata }: KubeObject): string {
  return metadata?.name ?? '';
}

function refusal(verb: string, code: number, reason: string): ApiError {
  return new ApiError({ verb, path: '/leases' }, { code }, { reason });
}

async function never(signal: AbortSignal | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}
