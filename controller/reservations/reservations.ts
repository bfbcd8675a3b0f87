/**
 * Nobody launches without room: every machine's share of its pool's limits is written down before the cloud is
 * called, in one ConfigMap per pool, so that neither races, restarts nor an old leader that thaws exceed a limit.
 *
 * Each write carries the resourceVersion it was decided on; each answer without a write rests on a read of its own.
 * Asks that come while a write is under way share the next one.
 */
import { once } from 'node:events';

import { isAlreadyExists, isConflict, isNotFound } from '#kube/client/errors.ts';
import { defaultBackOff, waitAfter } from '#kube/runtime/back-off.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import { nodeClaims, type NodeClaim, type NodePool } from '#schemas/karpenter/types.ts';
import type { ConfigMap } from '#schemas/kubernetes/core.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import { configMaps } from '#schemas/kubernetes/resource.ts';
import { labels } from '#schemas/names.ts';
import { subtractResources } from '#schemas/quantity/resources.ts';

import type { Context } from '../context.ts';
import { isOurs } from '../ours.ts';
import { settle, type Ask, type Outcome } from './batch.ts';
import {
  entryOf,
  ledgerOf,
  readLedger,
  usedBy,
  writeLedger,
  type Ledger,
  type Verdict,
} from './ledger.ts';
import { configMapName, poolAnnotation, poolToken, reservationsLabel } from './names.ts';

export type { Verdict } from './ledger.ts';

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

export class Reservations implements Runnable {
  readonly name = 'reservations';
  readonly #context: Context;
  /** The last page of each pool that was read or written here. */
  readonly #pages = new Map<string, Page>();
  readonly #queues = new Map<string, Waiting[]>();
  readonly #listeners = new Set<(pool: string) => void>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Makes the ledgers right once, and keeps them so while it leads. */
  async run(signal: AbortSignal): Promise<void> {
    this.follow(signal);
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- until it has succeeded once
        await this.rebuild(signal);
        break;
      } catch (error) {
        const wait = waitAfter(failures, defaultBackOff, Math.random());
        if (!signal.aborted)
          this.#context.log.warn({ err: error }, 'reservations were not rebuilt');
        // oxlint-disable-next-line no-await-in-loop
        await this.#context.clock.sleep(wait, signal).catch(() => {});
      }
    }
    if (!signal.aborted) await once(signal, 'abort');
  }

  /**
   * Takes room for one claim's machine, or says which limit has none. Asking again changes nothing; asking with
   * other resources changes the size, which may be denied while the old size is kept.
   *
   * @param resources what the machine takes of the limits; `nodes: 1` is added
   * @throws ApiError, ConnectionError, InvalidQuantity (a limit that is none): nothing is granted then
   */
  async reserve(pool: NodePool, claim: Live<NodeClaim>, resources: ResourceList): Promise<Verdict> {
    const entry = entryOf(claim.metadata.name, resources);
    return this.#ask(pool.metadata?.name ?? '', {
      kind: 'reserve',
      pool,
      uid: claim.metadata.uid,
      entry,
    });
  }

  /** Gives the room back, once the machine is proven gone. Unknown claims are fine. */
  async release(pool: string, claimUid: string): Promise<void> {
    await this.#ask(pool, { kind: 'release', uid: claimUid });
  }

  /** What all claims of the pool hold, by resource, `nodes` included. */
  used(pool: string): ResourceList {
    return usedBy(this.#ledger(pool).values());
  }

  /** Limits less use; negative above a lowered limit. A resource without limit is not there. */
  remaining(pool: NodePool): ResourceList {
    const limits = pool.spec.limits ?? {};
    const left = subtractResources(limits, this.used(pool.metadata?.name ?? ''));
    return Object.fromEntries(
      Object.entries(left).filter(([resource]) => Object.hasOwn(limits, resource)),
    );
  }

  /** Whether the claim holds a reservation, as far as is known here. */
  holds(pool: string, claimUid: string): boolean {
    return this.#ledger(pool).has(claimUid);
  }

  /** Tells each change of a pool's use. */
  subscribe(listener: (pool: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Makes every ledger agree with the claims there are: at the start of a leader. Ledgers are read before claims,
   * and a claim is written before its reservation, so a holder that is not listed is gone.
   */
  async rebuild(signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#context;
    const kept = await client.list(configMaps, {
      namespace,
      labelSelector: reservationsLabel,
      signal,
    });
    const claims = await this.#claims(signal);
    const uids = new Set(claims.map(({ metadata }) => metadata.uid));
    const holders = new Map(kept.items.map((each) => [poolOf(each), Object.keys(each.data ?? {})]));
    const names = new Set([...holders.keys(), ...claims.map(poolOfClaim)]);
    names.delete('');
    const rebuilds = [...names].map(async (pool) => {
      const gone = new Set((holders.get(pool) ?? []).filter((uid) => !uids.has(uid)));
      const held = ledgerOf(claims.filter((claim) => poolOfClaim(claim) === pool));
      await this.#ask(pool, { kind: 'rebuild', gone, held });
    });
    await Promise.all(rebuilds);
  }

  /** Follows the end of claims and pools, whoever ended them, until the signal aborts. */
  follow(signal: AbortSignal): void {
    const { nodeClaims: claims, nodePools } = this.#context.caches;
    const ended = (claim: Live<NodeClaim>): void => {
      const [pool, { uid }] = [poolOfClaim(claim), claim.metadata];
      if (this.holds(pool, uid)) this.#unattended(pool, { kind: 'release', uid });
    };
    const poolEnded = ({ metadata: { name } }: Live<NodePool>): void => {
      if (this.#pages.has(name) || this.#cached(name)) this.#unattended(name, { kind: 'tidy' });
    };
    const stops = [claims.subscribe({ delete: ended }), nodePools.subscribe({ delete: poolEnded })];
    signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true });
  }

  /** An ask that nobody waits for; it comes again at the next start of a leader, should it fail. */
  #unattended(pool: string, ask: Ask): void {
    this.#ask(pool, ask).catch((error: unknown) => {
      this.#context.log.warn({ pool, ask: ask.kind, err: error }, 'reservations were not updated');
    });
  }

  async #ask(pool: string, ask: Ask): Promise<Verdict> {
    const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
    const queue = this.#queues.get(pool);
    const waiting = { ask, resolve, reject };
    if (queue) queue.push(waiting);
    else {
      this.#queues.set(pool, [waiting]);
      void this.#work(pool);
    }
    return promise;
  }

  /** Settles a pool's asks in batches until none is left; it never rejects, each ask is told. */
  async #work(pool: string): Promise<void> {
    await Promise.resolve();
    for (let batch = this.#next(pool); batch.length > 0; batch = this.#next(pool)) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one write after the other is the point
        const { verdicts } = await this.#settle(
          pool,
          batch.map(({ ask }) => ask),
        );
        batch.forEach(({ resolve }, index) => resolve(verdicts[index] ?? { granted: true }));
      } catch (error) {
        this.#pages.delete(pool); // nobody knows whether the write happened
        batch.forEach(({ reject }) => reject(error));
      }
    }
  }

  #next(pool: string): Waiting[] {
    const batch = this.#queues.get(pool) ?? [];
    if (batch.length > 0) this.#queues.set(pool, []);
    else this.#queues.delete(pool);
    return batch;
  }

  async #settle(pool: string, asks: readonly Ask[]): Promise<Outcome> {
    const known = this.#pages.get(pool);
    if (known) {
      const outcome = settle(known.ledger, asks);
      const isProven = outcome.changed && outcome.verdicts.every(({ granted }) => granted);
      if (isProven && (await this.#write(pool, known, outcome.ledger))) return outcome;
    }
    for (let attempt = 1; attempt <= attempts; attempt++) {
      // oxlint-disable-next-line no-await-in-loop -- each attempt decides on what the last one left
      const page = await this.#read(pool);
      const outcome = settle(page.ledger, asks);
      // oxlint-disable-next-line no-await-in-loop
      if (await this.#write(pool, page, outcome.ledger)) return outcome;
    }
    throw new Error(`reservations of NodePool ${pool}: ${attempts} conflicting writes in a row`);
  }

  /** From the API server. A ledger that is missing, or that someone spoilt, is what the claims say. */
  async #read(pool: string): Promise<Page> {
    const { client, namespace } = this.#context;
    const configMap = await client
      .get(configMaps, { namespace, name: configMapName(pool) })
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    const ledger = configMap && readLedger(configMap);
    if (ledger) return { ledger, configMap };
    if (configMap)
      this.#context.log.warn(
        { pool },
        'reservations cannot be read and are rebuilt from the claims',
      );
    const claims = (await this.#claims()).filter((claim) => poolOfClaim(claim) === pool);
    return { ledger: ledgerOf(claims), configMap };
  }

  /** Whether the ledger now reads so; false after a conflict. */
  async #write(pool: string, { configMap }: Page, ledger: Ledger): Promise<boolean> {
    const data = writeLedger(ledger);
    const isGone = ledger.size === 0 && !this.#context.caches.nodePools.get(pool);
    try {
      const after = isGone ? await this.#delete(configMap) : await this.#put(pool, configMap, data);
      this.#pages.set(pool, { ledger, configMap: after });
      if (isGone) this.#pages.delete(pool);
    } catch (error) {
      if (isOutdated(error)) return false;
      throw error;
    }
    if (!isSame(configMap, data)) this.#listeners.forEach((listener) => listener(pool));
    return true;
  }

  async #delete(configMap: Live<ConfigMap> | undefined): Promise<undefined> {
    if (!configMap) return;
    const { name, uid, resourceVersion } = configMap.metadata;
    const key = { namespace: this.#context.namespace, name };
    await this.#context.client.delete(configMaps, key, { uid, resourceVersion });
  }

  async #put(
    pool: string,
    before: Live<ConfigMap> | undefined,
    data: Record<string, string>,
  ): Promise<Live<ConfigMap> | undefined> {
    const { client, namespace } = this.#context;
    if (before) {
      return isSame(before, data) ? before : client.replace(configMaps, { ...before, data });
    }
    if (Object.keys(data).length === 0) return undefined;
    const metadata = {
      name: configMapName(pool),
      namespace,
      labels: { [reservationsLabel]: poolToken(pool) },
      annotations: { [poolAnnotation]: pool },
    };
    return client.create(configMaps, { metadata, data });
  }

  #ledger(pool: string): Ledger {
    const page = this.#pages.get(pool);
    if (page) return page.ledger;
    const cached = this.#cached(pool);
    return (cached && readLedger(cached)) ?? new Map();
  }

  #cached(pool: string): Live<ConfigMap> | undefined {
    return this.#context.caches.reservations.get(
      `${this.#context.namespace}/${configMapName(pool)}`,
    );
  }

  async #claims(signal?: AbortSignal): Promise<Live<NodeClaim>[]> {
    const { items } = await this.#context.client.list(nodeClaims, signal ? { signal } : {});
    return items.filter(isOurs);
  }
}

function poolOf({ metadata }: ConfigMap): string {
  return metadata?.annotations?.[poolAnnotation] ?? '';
}

function poolOfClaim({ metadata }: NodeClaim): string {
  return metadata?.labels?.[labels.nodePool] ?? '';
}

function isSame(configMap: ConfigMap | undefined, data: Record<string, string>): boolean {
  return JSON.stringify(configMap?.data ?? {}) === JSON.stringify(data);
}

/** The ConfigMap is not what it was when the write was decided on. */
function isOutdated(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}
