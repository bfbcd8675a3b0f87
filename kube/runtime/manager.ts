import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { type Clock, type Duration, seconds } from '#schemas/time/clock.ts';

import type { Informer } from '../cache/informer.ts';
import type { Logger } from '../log.ts';
import type { Check, Checks } from './checks.ts';
import { Group, RunnableFailed } from './group.ts';
import type { Runnable } from './reconciler.ts';

export interface ManagerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Decides when the leading runnables run; without one they run at once, for processes of which there is one. */
  readonly elector?: Elector | undefined;
  /** How long all may take to end. Default 25 seconds, less than the 30 that kubelet waits. */
  readonly shutdownTimeout?: Duration | undefined;
}

/** The part of {@link LeaderElector} that a manager needs. */
export interface Elector {
  run(lead: (fence: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void>;
}

/** The part of an {@link Informer} that a manager needs, of whatever kind. */
export type Cache = Pick<Informer<KubeObject>, 'resource' | 'synced' | 'whenSynced' | 'run'>;

/** Some runnables did not end in time; the process has to be ended over their heads. */
export class ShutdownTimeout extends Error {
  override readonly name = 'ShutdownTimeout';

  constructor(running: readonly string[]) {
    super(`still running after the time to shut down: ${running.join(', ')}`);
  }
}

/**
 * Starts and ends a process's parts in order: the base (health, events), the caches, then, when these are full, what
 * always runs, then what only the leader runs; and back again. It knows no process: `run` ends by its signal, and
 * rejects when a part failed, so that tests can run several in one process.
 *
 * @example
 * const manager = new Manager({ clock, log, elector });
 * manager.addBase(new HealthServer({ port: 8081, ready: manager.ready, live: manager.live, clock, log }), recorder);
 * manager.addCaches(...Object.values(caches));
 * manager.addLeading(provisioner, lifecycle);
 * await manager.run(signal);
 */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #log: Logger;
  readonly #caches: Cache[] = [];
  readonly #base: Runnable[] = [];
  readonly #always: Runnable[] = [];
  readonly #leading: Runnable[] = [];
  readonly #ready = new Map<string, Check>();
  readonly #live = new Map<string, Check>();
  readonly #failure = new AbortController();
  #phase: 'starting' | 'running' | 'ending' = 'starting';

  readonly #groups = {
    base: new Group((error) => this.#fail(error)),
    caches: new Group((error) => this.#fail(error)),
    always: new Group((error) => this.#fail(error)),
    election: new Group((error) => this.#fail(error)),
    leading: new Group((error) => this.#fail(error)),
  };

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#ready.set('caches', () => this.#waitsFor());
    this.#ready.set('process', () =>
      this.#phase === 'running' ? undefined : `the process is ${this.#phase}`,
    );
  }

  /** For `/readyz`: caches full, not ending, and what {@link Manager.addReady} added. */
  get ready(): Checks {
    return this.#ready;
  }

  /** For `/healthz`: empty unless {@link Manager.addLive} was called, which is well: it answers. */
  get live(): Checks {
    return this.#live;
  }

  addReady(name: string, check: Check): void {
    this.#ready.set(name, check);
  }

  addLive(name: string, check: Check): void {
    this.#live.set(name, check);
  }

  /** Runs from the first moment to the last. */
  addBase(...runnables: Runnable[]): void {
    this.#base.push(...runnables);
  }

  /** All have to be full before anything but the base runs. */
  addCaches(...informers: Cache[]): void {
    this.#caches.push(...informers);
  }

  /** Runs in every replica. */
  addAlways(...runnables: Runnable[]): void {
    this.#always.push(...runnables);
  }

  /** Runs in the leader only. */
  addLeading(...runnables: Runnable[]): void {
    this.#leading.push(...runnables);
  }

  /**
   * Runs until the signal aborts and all parts have ended. Once only.
   *
   * @throws {RunnableFailed} after all parts have ended, when one failed; its cause is LeadershipLost when that was it
   * @throws {ShutdownTimeout} when parts do not end in time
   */
  async run(signal: AbortSignal): Promise<void> {
    const ending = AbortSignal.any([signal, this.#failure.signal]);
    await this.#start(ending);
    await aborted(ending);
    this.#phase = 'ending';
    this.#log.info({ running: this.#running }, 'ending');
    await this.#stopInTime(ending.reason);
    this.#failure.signal.throwIfAborted();
    this.#log.info({}, 'ended');
  }

  async #start(ending: AbortSignal): Promise<void> {
    const { base, caches, always, election, leading } = this.#groups;
    base.start(this.#base);
    caches.start(this.#caches.map(cacheRunnable));
    await Promise.all(this.#caches.map(async (cache) => cache.whenSynced(ending))).catch(
      (error: unknown) => {
        if (!ending.aborted) this.#fail(new RunnableFailed('caches', error));
      },
    );
    if (ending.aborted) return;
    this.#phase = 'running';
    this.#log.info({ caches: this.#caches.length }, 'caches are full');
    always.start(this.#always);
    const { elector } = this.#options;
    if (elector) election.start([this.#election(elector)]);
    else leading.start(this.#leading);
  }

  #election(elector: Elector): Runnable {
    const { leading } = this.#groups;
    const lead = async (fence: AbortSignal): Promise<void> => {
      leading.start(this.#leading, fence);
      await leading.ended();
      await aborted(fence); // a leader with nothing to do leads all the same
    };
    return { name: 'leader-election', run: async (signal) => elector.run(lead, signal) };
  }

  #fail(error: RunnableFailed): void {
    if (this.#phase === 'ending') {
      this.#log.warn({ err: error }, 'failed while ending');
      return;
    }
    if (!this.#failure.signal.aborted) {
      this.#log.error({ err: error }, 'a part of the process failed, all of it ends');
    }
    this.#failure.abort(error);
  }

  async #stopInTime(reason: unknown): Promise<void> {
    const timeout = this.#options.shutdownTimeout ?? seconds(25);
    const late = Promise.withResolvers<'late'>();
    const cancel = this.#options.clock.after(timeout, () => late.resolve('late'));
    const outcome = await Promise.race([this.#stop(reason), late.promise]);
    cancel();
    if (outcome !== 'late') return;
    const error = new ShutdownTimeout(this.#running);
    this.#log.error({ err: error, running: this.#running }, 'not all parts ended in time');
    for (const group of Object.values(this.#groups)) group.abort(reason);
    this.#failure.signal.throwIfAborted();
    throw error;
  }

  /** What uses something ends before what it uses: the last events go out when all else has ended. */
  async #stop(reason: unknown): Promise<void> {
    const { base, caches, always, election, leading } = this.#groups;
    for (const groups of [[election, leading], [always], [caches], [base]]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
      await Promise.all(groups.map(async (group) => endOf(group, reason)));
    }
  }

  get #running(): string[] {
    return Object.values(this.#groups).flatMap(({ running }) => running);
  }

  #waitsFor(): string | undefined {
    const empty = this.#caches.filter(({ synced }) => !synced).map(({ resource }) => resource.kind);
    return empty.length === 0 ? undefined : `waiting for ${empty.join(', ')}`;
  }
}

function cacheRunnable(cache: Cache): Runnable {
  return {
    name: `cache of ${cache.resource.plural}`,
    run: async (signal) => cache.run(signal),
  };
}

async function endOf(group: Group, reason: unknown): Promise<void> {
  group.abort(reason);
  await group.ended();
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}
