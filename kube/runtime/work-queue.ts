/**
 * The keys that wait for work. A key that is added again while it waits is worked on once; one that is added while it is
 * being worked on comes back afterwards. So no key is ever in two hands, and nothing that was added is lost.
 *
 * Source of the behaviour: k8s.io/client-go/util/workqueue.
 */
import { type Clock, type Duration, hours, type Instant } from '#schemas/time/clock.ts';

import type { Metrics } from '../metrics.ts';
import { type BackOff, defaultBackOff, waitAfter } from './back-off.ts';
import { type QueueMetrics, queueMetrics } from './queue-metrics.ts';

export interface WorkQueueOptions {
  /** Label of its metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly metrics?: Metrics | undefined;
  readonly backOff?: BackOff | undefined;
  readonly random?: (() => number) | undefined;
}

/**
 * Timers of Node hold at most 2^31 milliseconds (25 days) and fire at once beyond that. A key that comes up early is
 * harmless, since whoever works on it looks at the clock anew.
 */
const longestDelay: Duration = hours(24);

export class WorkQueue {
  readonly #clock: Clock;
  readonly #backOff: BackOff;
  readonly #random: () => number;
  readonly #metrics: QueueMetrics | undefined;
  /** Keys that can be taken, in order, with the time since when. */
  readonly #ready = new Map<string, Instant>();
  /** Keys in hand, with the time since when. */
  readonly #inHand = new Map<string, Instant>();
  /** Keys in hand that were added meanwhile. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { readonly at: Instant; readonly cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #stopped = false;

  constructor({ name, clock, metrics, backOff, random }: WorkQueueOptions) {
    this.#clock = clock;
    this.#backOff = backOff ?? defaultBackOff;
    this.#random = random ?? Math.random;
    this.#metrics = metrics && queueMetrics(metrics, name, this);
  }

  /** Keys that wait to be taken; those that are delayed or in hand do not count. */
  get depth(): number {
    return this.#ready.size;
  }

  /** How long each key in hand has been there. */
  get inHandFor(): Duration[] {
    const now = this.#clock.now();
    return [...this.#inHand.values()].map((since) => now - since);
  }

  /** Puts a key in line, unless it is there already. */
  add(key: string): void {
    if (this.#stopped || this.#ready.has(key) || this.#again.has(key)) return;
    this.#metrics?.added();
    if (this.#inHand.has(key)) this.#again.add(key);
    else this.#line(key);
  }

  /** Adds a key after a while. Of several delays of one key the one that ends first counts. */
  addAfter(key: string, delay: Duration): void {
    if (delay <= 0) this.add(key);
    if (this.#stopped || delay <= 0) return;
    const wait = Math.min(delay, longestDelay);
    const at = this.#clock.now() + wait;
    const earlier = this.#delayed.get(key);
    if (earlier && earlier.at <= at) return;
    earlier?.cancel();
    const cancel = this.#clock.after(wait, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, cancel });
  }

  /**
   * Adds a key after the wait that its failures in a row ask for.
   *
   * @param atLeast what the other side asked to wait
   * @returns the wait
   */
  retry(key: string, atLeast: Duration = 0): Duration {
    const failures = this.failures(key) + 1;
    this.#failures.set(key, failures);
    const wait = Math.max(atLeast, waitAfter(failures, this.#backOff, this.#random()));
    this.#metrics?.retried();
    this.addAfter(key, wait);
    return wait;
  }

  /** Ends a row of failures. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** How often the key has failed in a row. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The next key, which is in the caller's hand until {@link WorkQueue.done}; undefined once the queue has stopped. */
  async next(): Promise<string | undefined> {
    if (this.#stopped) return undefined;
    const [key] = this.#ready.keys();
    if (key !== undefined) return this.#take(key);
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#takers.push(resolve);
    return promise;
  }

  /** Gives back a key that {@link WorkQueue.next} handed out. */
  done(key: string): void {
    const since = this.#inHand.get(key);
    if (since === undefined) return;
    this.#inHand.delete(key);
    this.#metrics?.worked(this.#clock.now() - since);
    if (this.#again.delete(key) && !this.#stopped) this.#line(key);
  }

  /** Hands out nothing more and drops what waits: whoever starts next sees the whole world anew. */
  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#ready.clear();
    this.#again.clear();
    this.#failures.clear();
    this.#metrics?.stop();
    for (const resolve of this.#takers.splice(0)) resolve(undefined);
  }

  #line(key: string): void {
    this.#ready.set(key, this.#clock.now());
    const taker = this.#takers.shift();
    taker?.(this.#take(key));
  }

  #take(key: string): string {
    const now = this.#clock.now();
    this.#metrics?.waited(now - (this.#ready.get(key) ?? now));
    this.#ready.delete(key);
    this.#inHand.set(key, now);
    return key;
  }
}
