/**
 * Nobody launches without room: every machine's share of its pool's limits, and of what quota policies allow all
 * together, is written down before the cloud is called, so that neither races, restarts nor an old leader that thaws
 * exceed any of it.
 *
 * There is one ledger per pool and one for the whole cluster. A claim asks its pool's first and the cluster's then,
 * and is launched only when both have granted; between the two it has no machine. One that the second denies is
 * deleted, and takes what the first granted with it: room is given back by the end of a claim and by nothing else, so
 * that two asks for the same claim never undo each other. A crash in between leaves an entry of a claim that exists and
 * asks again, or of one that is gone, which {@link Reservations.rebuild} removes.
 */
import { defaultBackOff, waitAfter } from '#kube/runtime/back-off.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Live, ResourceList } from '#schemas/kubernetes/meta.ts';
import type { UnikraftQuotaPolicy } from '#schemas/quotapolicy/types.ts';
import { minutes } from '#schemas/time/clock.ts';

import { by } from '../caches.ts';
import type { Context } from '../context.ts';
import type { Ask } from './batch.ts';
import { Burst } from './burst.ts';
import { Ceilings } from './ceilings.ts';
import { entryOf, usedBy, type Bound, type Entry, type Verdict } from './ledger.ts';
import { belongingOf, heldIn, Ledgers, poolOfClaim } from './ledgers.ts';
import { wholeCluster } from './names.ts';
import { least, roomIn, type Room } from './room.ts';

export type { Verdict } from './ledger.ts';

const tidyInterval = minutes(1);

/** Claims that have not taken their room yet, with the size that they will ask for at least. */
export interface Promised {
  readonly claim: Live<NodeClaim>;
  readonly resources: ResourceList;
}

export class Reservations implements Runnable {
  readonly name = 'reservations';
  readonly ceilings: Ceilings;
  /** Claims of a plan that are being written, and take their room together. */
  readonly burst: Burst;
  readonly #context: Context;
  readonly #ledgers: Ledgers;

  constructor(context: Context) {
    this.#context = context;
    this.#ledgers = new Ledgers(context);
    this.ceilings = new Ceilings(context.caches);
    this.burst = new Burst(context.clock);
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
    await this.#keepTidy(signal);
  }

  /**
   * A leader that thaws may take room for a claim whose end it has slept through. Nothing is asked of the API server
   * while every holder is known.
   */
  async #keepTidy(signal: AbortSignal): Promise<void> {
    const { caches, clock, log } = this.#context;
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      await clock.sleep(tidyInterval, signal).catch(() => {});
      const holders = caches.reservations.list().flatMap(({ data = {} }) => Object.keys(data));
      const isUnknown = holders.some((uid) => caches.nodeClaims.by(by.uid, uid).length === 0);
      if (signal.aborted || !isUnknown) continue;
      // oxlint-disable-next-line no-await-in-loop
      await this.#compare(signal, () => new Map()).catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, 'reservations were not compared with claims');
      });
    }
  }

  /**
   * Takes room for one claim's machine in its pool and in the cluster, or says which limit has none. Asking again
   * changes nothing; asking with other resources changes the size, which may be denied while the old size is kept.
   *
   * @param pool  undefined for a claim without one, which only counts in the cluster
   * @param resources what the machine takes of the limits; `nodes: 1` is added
   * @throws ApiError, ConnectionError, InvalidQuantity (a limit that is none): nothing may be launched then
   */
  async reserve(
    pool: NodePool | undefined,
    claim: Live<NodeClaim>,
    resources: ResourceList,
  ): Promise<Verdict> {
    const { name, uid } = claim.metadata;
    const entry = entryOf(name, resources);
    if (pool) {
      const bounds = this.ceilings.limitsOf(pool);
      const verdict = await this.#reserve(pool.metadata?.name ?? '', { uid, entry, bounds });
      if (!verdict.granted) return verdict;
    }
    const belonging = { ...belongingOf(claim), ...(pool && { pool: pool.metadata?.name ?? '' }) };
    const of = this.ceilings.membership(belonging.pool, claim.spec.nodeClassRef.name, pool);
    const bounds = this.ceilings.totalsOf(of);
    return this.#reserve(wholeCluster, { uid, entry: { ...entry, ...belonging }, bounds });
  }

  /**
   * Writes down what a claim's machine takes in truth, in its pool and in the cluster: it is there, so no limit is
   * asked, and whoever asks for room later is judged by it.
   *
   * @throws ApiError, ConnectionError
   */
  async hold(claim: Live<NodeClaim>, resources: ResourceList): Promise<void> {
    const { name, uid } = claim.metadata;
    const pool = poolOfClaim(claim);
    const ask = { kind: 'hold', uid } as const;
    if (pool !== undefined)
      await this.#ledgers.ask(pool, { ...ask, entry: entryOf(name, resources) });
    const entry = entryOf(name, resources, belongingOf(claim));
    await this.#ledgers.ask(wholeCluster, { ...ask, entry });
  }

  /** Gives the room back, once the machine is proven gone. Unknown claims are fine. */
  async release(pool: string | undefined, claimUid: string): Promise<void> {
    const ask = { kind: 'release', uid: claimUid } as const;
    await this.#ledgers.ask(wholeCluster, ask);
    if (pool !== undefined) await this.#ledgers.ask(pool, ask);
  }

  /** What all claims of the pool hold, by resource, `nodes` included. */
  used(pool: string): ResourceList {
    return usedBy(this.#ledgers.get(pool).values());
  }

  /** What all claims hold that a policy means. */
  usedUnder(policy: UnikraftQuotaPolicy): ResourceList {
    const all = [...this.#ledgers.get(wholeCluster).values()];
    const [bound] = this.ceilings.totalsIn(policy);
    return usedBy(bound?.covers ? all.filter(bound.covers) : []);
  }

  /**
   * What is left to a pool of each resource that has a limit, be it the pool's own or a policy's, and which limit
   * that is; negative above a lowered one.
   *
   * @param promised  claims that will take of it soon
   */
  room(pool: NodePool, promised: readonly Promised[] = []): Room[] {
    const name = pool.metadata?.name ?? '';
    const of = this.ceilings.membership(name, pool.spec.template.spec.nodeClassRef.name, pool);
    const inPool = promised.filter(({ claim }) => poolOfClaim(claim) === name);
    return least([
      ...roomIn(this.ceilings.limitsOf(pool), ...this.#heldAndPromised(name, inPool)),
      ...roomIn(this.ceilings.totalsOf(of), ...this.#heldAndPromised(wholeCluster, promised)),
    ]);
  }

  /** Whether the claim holds all of its room, as far as is known here. */
  holds(claim: Live<NodeClaim>): boolean {
    const pool = poolOfClaim(claim);
    const scopes = pool === undefined ? [wholeCluster] : [pool, wholeCluster];
    return scopes.every((scope) => this.#ledgers.get(scope).has(claim.metadata.uid));
  }

  /** Tells each change of a pool's use. */
  subscribe(listener: (pool: string) => void): () => void {
    return this.#ledgers.subscribe(listener);
  }

  /**
   * Makes every ledger agree with the claims there are: at the start of a leader. Ledgers are read before claims,
   * and a claim is written before its reservation, so a holder that is not listed is gone.
   */
  async rebuild(signal: AbortSignal): Promise<void> {
    await this.#compare(signal, heldIn);
  }

  /** @param heldOf  what a ledger gets that lacks it */
  async #compare(signal: AbortSignal, heldOf: typeof heldIn): Promise<void> {
    const holders = await this.#ledgers.holders(signal);
    const claims = await this.#ledgers.claims(signal);
    const uids = new Set(claims.map(({ metadata }) => metadata.uid));
    const pools = claims.flatMap((claim) => poolOfClaim(claim) ?? []);
    const scopes = new Set([...holders.keys(), ...pools, ...(claims[0] ? [wholeCluster] : [])]);
    scopes.delete('');
    const rebuilds = [...scopes].map(async (scope) => {
      const gone = new Set((holders.get(scope) ?? []).filter((uid) => !uids.has(uid)));
      await this.#ledgers.ask(scope, { kind: 'rebuild', gone, held: heldOf(scope, claims) });
    });
    await Promise.all(rebuilds);
  }

  /** Follows the end of claims and pools, whoever ended them, until the signal aborts. */
  follow(signal: AbortSignal): void {
    const { nodeClaims: claims, nodePools } = this.#context.caches;
    const ended = (claim: Live<NodeClaim>): void => {
      const { uid } = claim.metadata;
      for (const scope of [poolOfClaim(claim) ?? '', wholeCluster]) {
        const mayHold = this.#ledgers.get(scope).has(uid) || this.#ledgers.isChanging(scope);
        if (mayHold) this.#unattended(scope, { kind: 'release', uid });
      }
    };
    const poolEnded = ({ metadata: { name } }: Live<NodePool>): void => {
      if (this.#ledgers.has(name)) this.#unattended(name, { kind: 'tidy' });
    };
    const stops = [claims.subscribe({ delete: ended }), nodePools.subscribe({ delete: poolEnded })];
    signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true });
  }

  async #reserve(
    scope: string,
    ask: { readonly uid: string; readonly entry: Entry; readonly bounds: readonly Bound[] },
  ): Promise<Verdict> {
    return this.#ledgers.ask(scope, { kind: 'reserve', ...ask });
  }

  /** An ask that nobody waits for; it comes again at the next start of a leader, should it fail. */
  #unattended(scope: string, ask: Ask): void {
    this.#ledgers.ask(scope, ask).catch((error: unknown) => {
      const facts = { scope, ask: ask.kind, err: error };
      this.#context.log.warn(facts, 'reservations were not updated');
    });
  }

  #heldAndPromised(scope: string, promised: readonly Promised[]): [Entry[], Entry[]] {
    const ledger = this.#ledgers.get(scope);
    const coming = promised.filter(({ claim }) => !ledger.has(claim.metadata.uid));
    return [
      [...ledger.values()],
      coming.map(({ claim, resources }) =>
        entryOf(claim.metadata.name, resources, belongingOf(claim)),
      ),
    ];
  }
}
