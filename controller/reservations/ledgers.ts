/**
 * The ledgers as they are kept: one ConfigMap per scope, which is a pool or the whole cluster.
 *
 * Each write carries the resourceVersion it was decided on; each answer without a write rests on a read of its own.
 * Asks that come while a write is under way share the next one.
 */
import { isAlreadyExists, isConflict, isNotFound } from '#kube/client/errors.ts';
import { nodeClaims, type NodeClaim } from '#schemas/karpenter/types.ts';
import type { ConfigMap } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { configMaps } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';

import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import { settle, type Ask, type Outcome } from './batch.ts';
import {
  ledgerOf,
  readLedger,
  writeLedger,
  type Entry,
  type Ledger,
  type Verdict,
} from './ledger.ts';
import {
  configMapName,
  poolAnnotation,
  poolToken,
  reservationsLabel,
  wholeCluster,
} from './names.ts';

/** A ledger with the ConfigMap that it was read from; undefined while there is none. */
interface Page {
  readonly ledger: Ledger;
  readonly configMap: Live<ConfigMap> | undefined;
}

interface Waiting {
  readonly ask: Ask;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: unknown) => void;
}

/** Others write the same ConfigMap only while two leaders overlap, so this many conflicts in a row mean trouble. */
const attempts = 50;

export class Ledgers {
  readonly #context: Context;
  /** The last page of each scope that was read or written here. */
  readonly #pages = new Map<string, Page>();
  readonly #queues = new Map<string, Waiting[]>();
  readonly #listeners = new Set<(scope: string) => void>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** As far as is known here. */
  get(scope: string): Ledger {
    const page = this.#pages.get(scope);
    if (page) return page.ledger;
    const cached = this.#cached(scope);
    return (cached && readLedger(cached)) ?? new Map();
  }

  /** Whether an ask is on its way that may change who holds room. */
  isChanging(scope: string): boolean {
    return this.#queues.has(scope);
  }

  /** Whether there is a ConfigMap for the scope, as far as is known here. */
  has(scope: string): boolean {
    return this.#pages.has(scope) || this.#cached(scope) !== undefined;
  }

  subscribe(listener: (scope: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Who is in each ledger that is stored, by scope. */
  async holders(signal: AbortSignal): Promise<Map<string, string[]>> {
    const { client, namespace } = this.#context;
    const options = { namespace, labelSelector: reservationsLabel, signal };
    const { items } = await client.list(configMaps, options);
    return new Map(
      items.map(({ metadata, data = {} }) => [
        metadata.annotations?.[poolAnnotation] ?? '',
        Object.keys(data),
      ]),
    );
  }

  /** All claims of ours, from the API server. */
  async claims(signal?: AbortSignal): Promise<Live<NodeClaim>[]> {
    const { items } = await this.#context.client.list(nodeClaims, signal ? { signal } : {});
    return items.filter(isOurs);
  }

  /** @throws ApiError, ConnectionError, InvalidQuantity: nothing is granted then */
  async ask(scope: string, ask: Ask): Promise<Verdict> {
    const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
    const queue = this.#queues.get(scope);
    const waiting = { ask, resolve, reject };
    if (queue) queue.push(waiting);
    else {
      this.#queues.set(scope, [waiting]);
      void this.#work(scope);
    }
    return promise;
  }

  /** Settles a scope's asks in batches until none is left; it never rejects, each ask is told. */
  async #work(scope: string): Promise<void> {
    await Promise.resolve();
    for (let batch = this.#next(scope); batch.length > 0; batch = this.#next(scope)) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one write after the other is the point
        const { verdicts } = await this.#settle(
          scope,
          batch.map(({ ask }) => ask),
        );
        batch.forEach(({ resolve }, index) => resolve(verdicts[index] ?? { granted: true }));
      } catch (error) {
        this.#pages.delete(scope); // nobody knows whether the write happened
        batch.forEach(({ reject }) => reject(error));
      }
    }
  }

  #next(scope: string): Waiting[] {
    const batch = this.#queues.get(scope) ?? [];
    if (batch.length > 0) this.#queues.set(scope, []);
    else this.#queues.delete(scope);
    return batch;
  }

  async #settle(scope: string, asks: readonly Ask[]): Promise<Outcome> {
    const known = this.#pages.get(scope);
    if (known) {
      const outcome = settle(known.ledger, asks);
      const isProven = outcome.changed && outcome.verdicts.every(({ granted }) => granted);
      if (isProven && (await this.#write(scope, known, outcome.ledger))) return outcome;
    }
    for (let attempt = 1; attempt <= attempts; attempt++) {
      // oxlint-disable-next-line no-await-in-loop -- each attempt decides on what the last one left
      const page = await this.#read(scope, asks);
      const outcome = settle(page.ledger, asks);
      // oxlint-disable-next-line no-await-in-loop
      if (await this.#write(scope, page, outcome.ledger)) return outcome;
    }
    throw new Error(
      `reservations of ${scope === wholeCluster ? 'the cluster' : `NodePool ${scope}`}: ${attempts} conflicting writes in a row`,
    );
  }

  /**
   * From the API server. A ledger that is missing, or that someone spoilt, is what the claims say, once somebody takes
   * room: whoever only gives some back must not bring back what claims that are about to end have given back before.
   */
  async #read(scope: string, asks: readonly Ask[]): Promise<Page> {
    const { client, namespace } = this.#context;
    const configMap = await client
      .get(configMaps, { namespace, name: configMapName(scope) })
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    const ledger = configMap && readLedger(configMap, this.#pages.get(scope)?.ledger);
    if (ledger) return { ledger, configMap };
    if (!configMap && asks.every(givesBack)) return { ledger: new Map(), configMap };
    if (configMap)
      this.#context.log.warn(
        { scope },
        'reservations cannot be read and are rebuilt from the claims',
      );
    return { ledger: heldIn(scope, await this.claims()), configMap };
  }

  /** Whether the ledger now reads so; false after a conflict. */
  async #write(scope: string, { configMap }: Page, ledger: Ledger): Promise<boolean> {
    const data = writeLedger(ledger);
    const isGone = ledger.size === 0 && !this.#context.caches.nodePools.get(scope);
    try {
      const after = isGone
        ? await this.#delete(configMap)
        : await this.#put(scope, configMap, data);
      if (after) this.#pages.set(scope, { ledger, configMap: after });
      else this.#pages.delete(scope); // whoever takes room next asks the claims
    } catch (error) {
      if (isOutdated(error)) return false;
      throw error;
    }
    if (!isSame(configMap, data)) this.#listeners.forEach((listener) => listener(scope));
    return true;
  }

  async #delete(configMap: Live<ConfigMap> | undefined): Promise<undefined> {
    if (!configMap) return;
    const { name, uid, resourceVersion } = configMap.metadata;
    const key = { namespace: this.#context.namespace, name };
    await this.#context.client.delete(configMaps, key, { uid, resourceVersion });
  }

  async #put(
    scope: string,
    before: Live<ConfigMap> | undefined,
    data: Record<string, string>,
  ): Promise<Live<ConfigMap> | undefined> {
    const { client, namespace } = this.#context;
    if (before) {
      return isSame(before, data) ? before : client.replace(configMaps, { ...before, data });
    }
    if (Object.keys(data).length === 0) return undefined;
    const metadata = {
      name: configMapName(scope),
      namespace,
      labels: { [reservationsLabel]: poolToken(scope) },
      annotations: { [poolAnnotation]: scope },
    };
    return client.create(configMaps, { metadata, data });
  }

  #cached(scope: string): Live<ConfigMap> | undefined {
    return this.#context.caches.reservations.get(
      `${this.#context.namespace}/${configMapName(scope)}`,
    );
  }
}

/** What claims that may have a machine hold of a scope. */
export function heldIn(scope: string, claims: readonly Live<NodeClaim>[]): Ledger {
  if (scope === wholeCluster) return ledgerOf(claims, belongingOf);
  return ledgerOf(claims.filter((claim) => poolOfClaim(claim) === scope));
}

/** Where a claim's machine belongs, as the ledger of the cluster keeps it. */
export function belongingOf(claim: NodeClaim): Pick<Entry, 'pool' | 'nodeClass'> {
  const pool = poolOfClaim(claim);
  return { ...(pool !== undefined && { pool }), nodeClass: claim.spec.nodeClassRef.name };
}

export function poolOfClaim({ metadata }: NodeClaim): string | undefined {
  return metadata?.labels?.[labels.nodePool] || undefined;
}

function givesBack({ kind }: Ask): boolean {
  return kind === 'release' || kind === 'tidy';
}

function isSame(configMap: ConfigMap | undefined, data: Record<string, string>): boolean {
  const before = Object.entries(configMap?.data ?? {});
  return (
    before.length === Object.keys(data).length && before.every(([uid, text]) => data[uid] === text)
  );
}

/** The ConfigMap is not what it was when the write was decided on. */
function isOutdated(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}
