import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf, type Resource } from '#schemas/kubernetes/resource.ts';
import { seconds, type Clock, type Instant } from '#schemas/time/clock.ts';

import type { KubeClient } from '../client/client.ts';
import { isForbidden, type ApiError } from '../client/errors.ts';
import type { Logger } from '../log.ts';
import type { Informer, InformerHandler } from './informer.ts';

/** How soon a kind that is installed later is found. */
const interval = seconds(15);

/** A copy that whoever reads it can tell apart from one of a kind of which there are none. */
export interface MaybeForbidden {
  /** Nobody has been allowed to read the kind yet, so nothing is known of it. */
  readonly isForbidden: boolean;
}

interface Parts {
  readonly client: Pick<KubeClient, 'raw'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether the right to read the kind may be missing too; default: it is waited for. */
  readonly mayBeForbidden?: boolean;
}

/**
 * A copy of a kind that the cluster may not have: an older installation without its CRD. There it is in sync and empty,
 * and whoever waits for it goes on; once the kind is served it fills. An API server that cannot say whether it serves
 * the kind is asked until it can, and until then nothing is in sync: not to know is not the same as none.
 *
 * The same goes for a kind that older roles do not let one read, where that is asked for.
 */
export class OptionalInformer<T extends KubeObject> implements Informer<T>, MaybeForbidden {
  readonly #inner: Informer<T>;
  readonly #client: Pick<KubeClient, 'raw'>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #absent = Promise.withResolvers<void>();
  readonly #mayBeForbidden: boolean;
  #isAbsent = false;
  #isForbidden = false;

  constructor(inner: Informer<T>, parts: Parts) {
    this.#inner = inner;
    this.#mayBeForbidden = parts.mayBeForbidden ?? false;
    this.#client = parts.client;
    this.#clock = parts.clock;
    this.#log = parts.log.child({ informer: inner.resource.plural });
  }

  get resource(): Resource<T> {
    return this.#inner.resource;
  }

  get synced(): boolean {
    return this.#isAbsent || this.#inner.synced;
  }

  get isForbidden(): boolean {
    return this.#isForbidden && !this.#inner.synced;
  }

  get lastEventAt(): Instant {
    return this.#inner.lastEventAt;
  }

  get(key: string): Live<T> | undefined {
    return this.#inner.get(key);
  }

  list(): Live<T>[] {
    return this.#inner.list();
  }

  by(index: string, value: string): Live<T>[] {
    return this.#inner.by(index, value);
  }

  addIndex(name: string, valuesOf: (object: Live<T>) => string[]): void {
    this.#inner.addIndex(name, valuesOf);
  }

  subscribe(handler: InformerHandler<T>): () => void {
    return this.#inner.subscribe(handler);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      if (await this.#isServed(signal)) break;
      // oxlint-disable-next-line no-await-in-loop
      await this.#clock.sleep(interval, signal).catch(() => {});
    }
    if (!signal.aborted) await this.#inner.run(signal);
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#absent.promise, this.#inner.whenSynced(signal)]);
  }

  async #isServed(signal: AbortSignal): Promise<boolean> {
    const { resource } = this.#inner;
    const prefix = resource.group === '' ? '/api' : '/apis';
    const path = `${prefix}/${apiVersionOf(resource)}`;
    try {
      const served = (await this.#client.raw(path, { signal })) as
        | { resources?: { name: string }[] }
        | undefined;
      if (!served?.resources?.some(({ name }) => name === resource.plural)) {
        this.#goOn({}, 'the kind is not served, so there are none');
        return false;
      }
      if (this.#mayBeForbidden)
        await this.#client.raw(`${path}/${resource.plural}?limit=1`, { signal });
      return true;
    } catch (error) {
      if (this.#mayBeForbidden && isForbidden(error)) this.#refused(error);
      else if (!signal.aborted)
        this.#log.warn({ err: error }, 'whether the kind is served is not known');
    }
    return false;
  }

  #refused({ text }: ApiError): void {
    this.#isForbidden = true;
    this.#goOn({ error: text }, 'the kind may not be read, so nothing is known of it');
  }

  /** Whoever waits goes on without. */
  #goOn(facts: object, message: string): void {
    if (!this.#isAbsent) this.#log.info(facts, message);
    this.#isAbsent = true;
    this.#absent.resolve();
  }
}
