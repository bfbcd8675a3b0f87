/**
 * Events for people, kept few: the same thing said twice within a while is said once, each reason has its share of the
 * API server, and an API server that does not answer costs a bounded queue and nothing else.
 *
 * Source of the rules: Karpenter v1.15, pkg/events/recorder.go.
 */
import { randomInt } from 'node:crypto';

import type { Event } from '#schemas/kubernetes/core.ts';
import { events } from '#schemas/kubernetes/resource.ts';
import { manager } from '#schemas/names.ts';
import { type Clock, type Duration, type Instant, minutes, seconds } from '#schemas/time/clock.ts';

import type { KubeClient } from '../client/client.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { EventNote, EventRecorder } from './events.ts';
import type { Runnable } from './reconciler.ts';
import { TokenBucket } from './token-bucket.ts';

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: Metrics | undefined;
  /** For each reason by itself; default 10 a second after 25 at once. */
  readonly rate?: { readonly perSecond: number; readonly burst: number } | undefined;
  /** Events that may wait for the API server; further ones are dropped. Default 1000. */
  readonly queueLimit?: number | undefined;
  /** How long the end of the process may wait for the last events. Default 5 seconds. */
  readonly flushTimeout?: Duration | undefined;
  /** Makes names of events unique; default: 16 hexadecimal digits that grow. */
  readonly suffix?: (() => string) | undefined;
}

/** Why an event was not sent. */
type Dropped = 'repeated' | 'rate' | 'queue' | 'nameless' | 'refused';

export class KubeEventRecorder implements EventRecorder, Runnable {
  readonly name = 'event-recorder';
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Until when a note counts as said, by what makes it the same. */
  readonly #said = new Map<string, Instant>();
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #queue: Event[] = [];
  readonly #stop = new AbortController();
  readonly #suffix: () => string;
  #sending: Promise<void> | undefined;
  #sweptAt: Instant;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#log = options.log.child({ controller: this.name });
    this.#suffix = options.suffix ?? growing(options.clock);
    this.#sweptAt = options.clock.now();
  }

  record(note: EventNote): void {
    const why = this.#reasonToDrop(note);
    if (why !== undefined) {
      this.#drop(why, note.reason);
      return;
    }
    this.#queue.push(eventOf(note, this.#clock.stamp(), this.#suffix()));
    this.#sending ??= this.#send();
  }

  /** Keeps the process from ending before the last events are sent. */
  async run(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (!signal.aborted) await promise;
    await this.flush();
  }

  /** Resolves when nothing waits any more; after the timeout what still waits is dropped. */
  async flush(timeout = this.#options.flushTimeout ?? seconds(5)): Promise<void> {
    if (!this.#sending) return;
    const cancel = this.#clock.after(timeout, () => {
      const left = this.#queue.splice(0).length;
      this.#log.warn({ left }, 'the API server does not take events, the last ones are lost');
      this.#stop.abort(new Error('no time left to send events'));
    });
    await this.#sending;
    cancel();
  }

  #reasonToDrop(note: EventNote): Dropped | undefined {
    const { kind, apiVersion, metadata } = note.object;
    if (!kind || !apiVersion || !metadata?.name) return 'nameless';
    if (this.#wasSaid(note)) return 'repeated';
    if (this.#queue.length >= (this.#options.queueLimit ?? 1000)) return 'queue';
    if (!this.#bucket(note.reason).take()) return 'rate';
    const until = this.#clock.now() + (note.dedupeTimeout ?? minutes(2));
    this.#said.set(sameness(note), until);
    return undefined;
  }

  #wasSaid(note: EventNote): boolean {
    const now = this.#clock.now();
    if (now - this.#sweptAt >= minutes(1)) {
      this.#sweptAt = now;
      for (const [key, until] of this.#said) if (until <= now) this.#said.delete(key);
    }
    return (this.#said.get(sameness(note)) ?? now) > now;
  }

  #bucket(reason: string): TokenBucket {
    const rate = this.#options.rate ?? { perSecond: 10, burst: 25 };
    const bucket = this.#buckets.get(reason) ?? new TokenBucket(this.#clock, rate);
    this.#buckets.set(reason, bucket);
    return bucket;
  }

  #drop(why: Dropped, reason: string): void {
    this.#options.metrics
      ?.counter('karpenter_unikraft_events_dropped_total', 'Events that were not sent.', ['why'])
      .inc({ why });
    if (why === 'repeated') return;
    this.#log.debug({ why, reason }, 'event dropped');
  }

  async #send(): Promise<void> {
    for (let event = this.#queue.shift(); event; event = this.#queue.shift()) {
      // oxlint-disable-next-line no-await-in-loop -- one at a time is gentle, and keeps their order
      await this.#create(event);
    }
    this.#sending = undefined;
  }

  async #create(event: Event): Promise<void> {
    try {
      await this.#options.client.create(events, event, { signal: this.#stop.signal });
    } catch (error) {
      this.#drop('refused', event.reason ?? '');
      const { reason, involvedObject } = event;
      this.#log.warn({ err: error, reason, involvedObject }, 'an event could not be written');
    }
  }
}

/**
 * Milliseconds and a count: kubectl shows events of one second in the order of their names, which is then the order
 * in which they happened. The count begins somewhere, so that two processes do not meet.
 */
function growing(clock: Clock): () => string {
  let count = randomInt(0x8000);
  return () => {
    count = (count + 1) % 0x10000;
    return hex(clock.now(), 12) + hex(count, 4);
  };
}

function hex(value: number, digits: number): string {
  return Math.floor(value).toString(16).padStart(digits, '0').slice(-digits);
}

function sameness({ object, reason, message, dedupeValues }: EventNote): string {
  const { kind, metadata } = object;
  return JSON.stringify([
    kind,
    metadata?.namespace,
    metadata?.name,
    metadata?.uid,
    reason,
    ...(dedupeValues ?? [message]),
  ]);
}

/** The API server's limits: 253 for a name, of which the suffix takes 17; 1024 for a message. */
const longestStem = 253 - 17;
const longestMessage = 1024;

function eventOf(note: EventNote, now: string, suffix: string): Event {
  const { apiVersion, kind, metadata } = note.object;
  const name = metadata?.name ?? '';
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // Events about cluster-scoped objects live in `default`, where kubectl describe looks for them.
    metadata: {
      name: `${name.slice(0, longestStem).replace(/[.-]+$/u, '')}.${suffix}`,
      namespace: metadata?.namespace ?? 'default',
    },
    involvedObject: defined({
      apiVersion,
      kind,
      name,
      namespace: metadata?.namespace,
      uid: metadata?.uid,
      resourceVersion: metadata?.resourceVersion,
    }),
    type: note.type,
    reason: note.reason,
    message: shortened(note.message),
    source: { component: manager },
    reportingComponent: manager,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  };
}

function shortened(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage - 1)}…` : message;
}

/** The entries that have a value: JSON has no undefined, and neither have our types. */
function defined<V>(entries: Record<string, V | undefined>): Record<string, V> {
  return Object.fromEntries(
    Object.entries(entries).filter((entry): entry is [string, V] => entry[1] !== undefined),
  );
}
