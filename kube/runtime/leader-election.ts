import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

import type { Lease } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { leases } from '#schemas/kubernetes/resource.ts';
import { type Clock, type Duration, type Instant, seconds } from '#schemas/time/clock.ts';

import type { KubeClient } from '../client/client.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../client/errors.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { hasExpired, heldBy, holderOf, type Observation, observe, releasedBy } from './lease.ts';

export interface LeaderElectorOptions {
  /** One that is used for nothing else, so that other calls cannot hold up a renewal. */
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  /** Of one process at a time: see {@link processIdentity}. */
  readonly identity: string;
  /** How long others wait after the last renewal that they saw. Default 60 seconds. */
  readonly leaseDuration?: Duration | undefined;
  /**
   * How long the leader goes on after its last renewal; the difference is the safety margin. Default 45 seconds: an API
   * server that is away for half a minute, as in an upgrade, must not restart the process. (client-go has 15 and 10.)
   */
  readonly renewDeadline?: Duration | undefined;
  /** Between attempts. Default 2 seconds. */
  readonly retryPeriod?: Duration | undefined;
  readonly random?: (() => number) | undefined;
}

/** Somebody else leads, or may lead by now: the process has to end, since its memory is of a world it no longer rules. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

/** `other`: somebody else holds the lease; `unknown`: the API server did not say. */
type Attempt =
  /** Counted from before the call was sent: others can only have seen it later. */
  { readonly outcome: 'held'; readonly since: Instant } | { readonly outcome: 'other' | 'unknown' };

/**
 * What this process calls itself in a Lease.
 *
 * In a Pod that is told its name (POD_NAME by the downward API) it is that: kubelet starts a container again only when
 * the one before it is dead, so a restart after a crash need not wait for its own lease to run out. Elsewhere it is the
 * host and a random part, never a process id: in containers all of these are 1.
 */
export function processIdentity(env: NodeJS.ProcessEnv = process.env): string {
  return env['POD_NAME'] || `${hostname()}_${randomUUID()}`;
}

/**
 * Lets one process of many lead, by a Lease.
 *
 * What leads gets a fencing signal, which aborts before anybody else can hold the lease: the leader stops
 * `renewDeadline` after it *sent* its last successful renewal, others wait `leaseDuration` after they *saw* it, each on
 * its own clock. A process that was frozen finds its time used up as soon as it goes on.
 *
 * Source of times and jitter: k8s.io/client-go/tools/leaderelection.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #leaseDuration: Duration;
  readonly #renewDeadline: Duration;
  readonly #retryPeriod: Duration;
  readonly #random: () => number;
  /** As last written by us; undefined while it is somebody else's or the outcome of a write is unknown. */
  #lease: Live<Lease> | undefined;
  #observed: Observation | undefined;
  #renewedAt: Instant | undefined;
  #endOfTerm: (() => void) | undefined;
  #complained = false;

  /** @throws {RangeError} when the times leave no margin */
  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#log = options.log.child({ lease: options.name, identity: options.identity });
    this.#leaseDuration = options.leaseDuration ?? seconds(60);
    this.#renewDeadline = options.renewDeadline ?? seconds(45);
    this.#retryPeriod = options.retryPeriod ?? seconds(2);
    this.#random = options.random ?? Math.random;
    if (this.#leaseDuration <= this.#renewDeadline || this.#renewDeadline <= this.#retryPeriod) {
      throw new RangeError('leader election needs leaseDuration > renewDeadline > retryPeriod');
    }
    const help = 'Whether this process leads.';
    options.metrics?.sample('leader_election_master_status', help, { name: options.name }, () =>
      this.leading ? 1 : 0,
    );
  }

  /** Whether this process leads at this very instant; also right for one that was frozen, before any timer has run. */
  get leading(): boolean {
    return this.#timeLeft > 0;
  }

  /**
   * Waits for the leadership, runs `lead` under it, and gives it back when `lead` has ended. While `lead` tidies up
   * after `signal` aborted, the lease is still renewed, so that nobody else begins before it is done.
   *
   * @throws {LeadershipLost} at once when it is lost; `lead` is told by its signal, but not waited for
   * @throws whatever `lead` throws
   */
  async run(lead: (fence: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    if (!(await this.#acquire(signal))) return;
    this.#log.info({}, 'leading');
    const term = new AbortController();
    void this.#renew(term);
    try {
      if (signal.aborted) return;
      await Promise.race([lead(AbortSignal.any([signal, term.signal])), lost(term.signal)]);
    } finally {
      term.abort(new Error('the leader has ended'));
      this.#endOfTerm?.();
      if (this.leading) await this.#release();
      this.#renewedAt = undefined;
    }
  }

  /** @returns whether this process leads; false when the signal aborted first */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    this.#log.info({}, 'waiting for the leadership');
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      const attempt = await this.#attempt(signal);
      if (attempt.outcome === 'held') this.#renewedAt = attempt.since;
      if (this.leading) return true;
      const wait = this.#retryPeriod * (1 + 1.2 * this.#random());
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      await this.#clock.sleep(wait, signal).catch(() => {});
    }
    return false;
  }

  async #renew(term: AbortController): Promise<void> {
    const { signal } = term;
    this.#endTermInTime(term);
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one renewal after the other
      await this.#clock.sleep(this.#retryPeriod, signal).catch(() => {});
      if (!signal.aborted && !this.leading)
        this.#lose(term, 'the process stood still for too long');
      if (signal.aborted) return;
      // oxlint-disable-next-line no-await-in-loop -- one renewal after the other
      const attempt = await this.#attempt(signal);
      if (attempt.outcome === 'other') this.#lose(term, 'somebody else holds the lease');
      if (signal.aborted) return;
      if (attempt.outcome === 'held') this.#renewedAt = attempt.since;
      this.#endTermInTime(term);
    }
  }

  /** By a timer of its own: a call that hangs must not keep the fence open. */
  #endTermInTime(term: AbortController): void {
    this.#endOfTerm?.();
    this.#endOfTerm = this.#clock.after(Math.max(0, this.#timeLeft), () =>
      this.#lose(term, 'it could not be renewed in time'),
    );
  }

  #lose(term: AbortController, why: string): void {
    if (term.signal.aborted) return;
    this.#renewedAt = undefined;
    this.#endOfTerm?.();
    const error = new LeadershipLost(`leadership lost: ${why}`);
    this.#log.error({ err: error }, 'leadership lost');
    term.abort(error);
  }

  /** Takes or renews the lease if that may be. Never rejects. */
  async #attempt(signal: AbortSignal): Promise<Attempt> {
    const began = this.#clock.now();
    const timeout = new AbortController();
    const cancel = this.#clock.after(this.#renewDeadline / 3, () =>
      timeout.abort(new Error('no answer from the API server in time')),
    );
    try {
      const held = await this.#hold(AbortSignal.any([signal, timeout.signal]));
      this.#complained = false;
      return held ? { outcome: 'held', since: began } : { outcome: 'other' };
    } catch (error) {
      this.#complain(error, signal);
      return { outcome: 'unknown' };
    } finally {
      cancel();
    }
  }

  /** @returns false when somebody else holds the lease */
  async #hold(signal: AbortSignal, again = true): Promise<boolean> {
    const lease = this.#lease ?? (await this.#read(signal));
    if (lease && !this.#isOurs(lease)) return false;
    this.#lease = undefined; // until the server says that it took the write
    try {
      this.#lease = await this.#write(lease, signal);
      return true;
    } catch (error) {
      const raced = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
      if (!raced || !again) throw error;
      return this.#hold(signal, false);
    }
  }

  async #write(lease: Live<Lease> | undefined, signal: AbortSignal): Promise<Live<Lease>> {
    const { client, identity } = this.#options;
    const next = heldBy(lease ?? this.#blank(), identity, this.#leaseDuration, this.#clock);
    return lease
      ? client.replace(leases, next, { signal })
      : client.create(leases, next, { signal });
  }

  /** Whether we may write the lease: it is ours, nobody's, or its holder has gone silent. */
  #isOurs(lease: Lease): boolean {
    const now = this.#clock.now();
    this.#observed = observe(this.#observed, lease, now);
    const holder = holderOf(lease);
    if (holder === '' || holder === this.#options.identity) return true;
    return hasExpired(lease, this.#observed, now, this.#leaseDuration);
  }

  async #read(signal: AbortSignal): Promise<Live<Lease> | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      return await client.get(leases, { namespace, name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #blank(): Lease {
    const { namespace, name } = this.#options;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name },
    };
  }

  /** Best effort: if it fails, others wait for the lease to run out, as after a crash. */
  async #release(): Promise<void> {
    const timeout = new AbortController();
    const { signal } = timeout;
    const cancel = this.#clock.after(this.#retryPeriod, () =>
      timeout.abort(new Error('no answer')),
    );
    try {
      const lease = this.#lease ?? (await this.#read(signal));
      if (lease && holderOf(lease) === this.#options.identity) {
        await this.#options.client.replace(leases, releasedBy(lease, this.#clock), { signal });
      }
      this.#log.info({}, 'gave the leadership back');
    } catch (error) {
      this.#log.warn({ err: error }, 'could not give the leadership back; it will run out');
    } finally {
      this.#lease = undefined;
      cancel();
    }
  }

  /** Once per outage: attempts come every two seconds. */
  #complain(error: unknown, signal: AbortSignal): void {
    if (signal.aborted || this.#complained) return;
    this.#complained = true;
    this.#log.warn({ err: error }, 'could not read or write the lease, will keep trying');
  }

  get #timeLeft(): Duration {
    if (this.#renewedAt === undefined) return 0;
    return this.#renewedAt + this.#renewDeadline - this.#clock.now();
  }
}

/** Rejects with the reason when a term ends by loss. */
async function lost(term: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  term.addEventListener('abort', () => reject(term.reason), { once: true });
  return promise;
}
