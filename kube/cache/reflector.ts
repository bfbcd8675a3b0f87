import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import type { Resource } from '#schemas/kubernetes/resource.ts';
import { seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

/**
 * Follows one kind of object on the API server, and never ends on account of it.
 *
 * A full state is streamed by a watch that begins with what is there (KEP-3157), which costs neither side a whole list
 * in memory; servers that refuse get pages of 500. From then on the watch is opened again from where it
 * stopped, whatever stopped it, and only a version that has grown too old (410) asks for a full state again.
 */
import type { KubeClient, ObjectReader, WatchEvent } from '../client/client.ts';
import { ApiError, isGone } from '../client/errors.ts';
import type { Logger } from '../log.ts';
import { backoff } from './backoff.ts';
import { IdleGuard } from './idle-guard.ts';
import { keyOf } from './store.ts';

/** Where what arrives goes. None of these may throw. */
export interface Sink<T extends KubeObject> {
  /** A full state: what it does not hold is gone. Nothing else is told until it resolves. */
  replace(state: ReadonlyMap<string, Live<T>>): Promise<void>;
  put(object: Live<T>): void;
  remove(object: Live<T>): void;
  /** Runs first on each object that {@link ReflectorOptions.reader} has not made; what it returns is kept. */
  arrive(object: Live<T>): Live<T>;
  /** An event or bookmark has come. */
  alive(): void;
  /** A full state is asked for. */
  relist(): void;
}

export interface ReflectorOptions<T> {
  readonly clock: Clock;
  readonly log: Logger;
  /** In [0, 1). */
  readonly random: () => number;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Makes what is kept of an object that a watch tells of. */
  readonly reader?: ObjectReader<T> | undefined;
}

const initialEventsEnd = 'k8s.io/initial-events-end';

/** A watch lives 5 to 10 minutes, each another time, so that those of all replicas do not end together. */
const shortestWatch = seconds(300);
/** The server ends a watch at its timeout; one that still stands this much later has no server any more. */
const timeoutGrace = seconds(30);
/**
 * A server that sends bookmarks sends one about each minute. Two missing ones and half a minute: the connection is half
 * open, which TCP itself may take a quarter of an hour to notice.
 */
const silence = seconds(150);
/** A watch that ends sooner is a failure however it ends: opened again at once it would be a hot loop. */
const shortLived = seconds(1);
/** A server that asks for patience gets it, up to as long as one that fails again and again is left alone. */
const longestPatience = seconds(30);
/** A watch that lived this long has shown that the server is well. */
const wellAfter = seconds(10);

/** What came of a watch. */
interface Turn {
  readonly failed: boolean;
  /** How long the server asked to be left alone. */
  readonly patience: Duration;
}

export class Reflector<T extends KubeObject> {
  readonly #client: KubeClient;
  readonly #resource: Resource<T>;
  readonly #sink: Sink<T>;
  readonly #options: ReflectorOptions<Live<T>>;
  /** From where to go on; undefined: a full state is needed. */
  #version: string | undefined;
  /** Whether this server has been seen to send bookmarks for this kind. */
  #sendsBookmarks = false;

  constructor(
    client: KubeClient,
    resource: Resource<T>,
    sink: Sink<T>,
    options: ReflectorOptions<Live<T>>,
  ) {
    this.#client = client;
    this.#resource = resource;
    this.#sink = sink;
    this.#options = options;
  }

  /** Ends when the signal aborts, never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const started = clock.now();
      // oxlint-disable-next-line no-await-in-loop -- one watch after the other
      const { failed, patience } = await this.#turn(signal);
      if (signal.aborted) return;
      const lasted = clock.now() - started;
      if (lasted >= wellAfter) failures = 0;
      if (!failed && lasted >= shortLived) continue;
      failures += 1;
      // oxlint-disable-next-line no-await-in-loop -- one watch after the other
      await clock.sleep(Math.max(backoff(failures, random()), patience), signal).catch(() => {});
    }
  }

  /** One watch, with a full state before it where one is needed. */
  async #turn(signal: AbortSignal): Promise<Turn> {
    try {
      if (this.#version === undefined) await this.#fullState(signal);
      else await this.#watch(signal, undefined);
      return { failed: false, patience: 0 };
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
      return { failed: true, patience: patienceFor(error) };
    }
  }

  #failed(error: unknown): void {
    const { log } = this.#options;
    if (isGone(error)) {
      this.#version = undefined;
      log.info({ err: error }, 'watch is too old, reading the full state again');
    } else if (error instanceof ApiError && patienceFor(error) > 0) {
      // no fault of anybody's, and where it arose is known: a server that starts says it of every kind
      const { path, text } = error;
      log.info({ path, text, patience: patienceFor(error) }, 'server asks to wait before a watch');
    } else {
      log.warn({ err: error, resumeFrom: this.#version }, 'watch failed, trying again');
    }
  }

  async #fullState(signal: AbortSignal): Promise<void> {
    this.#sink.relist();
    try {
      await this.#watch(signal, new Map());
    } catch (error) {
      if (!cannotStream(error)) throw error;
      this.#options.log.debug(
        { err: error },
        'server does not stream the full state, reading pages',
      );
      await this.#readPages(signal);
      await this.#watch(signal, undefined);
    }
  }

  /** Each page is let go once its objects have arrived, so that only what is kept of them adds up. */
  async #readPages(signal: AbortSignal): Promise<void> {
    const state = new Map<string, Live<T>>();
    let from: string | undefined;
    let version: string | undefined;
    do {
      const page = { signal, onePage: true, ...(from === undefined ? {} : { continue: from }) };
      // oxlint-disable-next-line no-await-in-loop -- each page names the next
      const { metadata, items } = await this.#client.list(this.#resource, {
        ...this.#selection(),
        ...page,
      });
      this.#sink.alive();
      for (const item of items) keep(state, this.#sink.arrive(item));
      from = metadata.continue || undefined;
      version = metadata.resourceVersion;
    } while (from !== undefined);
    await this.#sink.replace(state);
    this.#version = version;
  }

  /**
   * @param state collects the full state until the server says that it is complete; undefined: go on from the version
   */
  async #watch(signal: AbortSignal, state: Map<string, Live<T>> | undefined): Promise<void> {
    const { random, reader } = this.#options;
    const timeout = shortestWatch + Math.floor(random() * 300) * seconds(1);
    const guard = new IdleGuard(this.#options.clock, signal, () => this.#patience(timeout));
    try {
      const events = this.#client.watch(this.#resource, {
        ...this.#selection(),
        ...(state ? { sendInitialEvents: true } : {}),
        ...(this.#version === undefined ? {} : { resourceVersion: this.#version }),
        timeoutSeconds: timeout / seconds(1),
        ...(reader ? { reader } : {}),
        signal: guard.signal,
      });
      let pending = state;
      for await (const event of events) {
        guard.heard();
        this.#sink.alive();
        // oxlint-disable-next-line no-await-in-loop -- what comes after it waits for it
        if (pending && isWhole(event)) await this.#sink.replace(pending);
        pending = this.#take(event, pending);
      }
    } finally {
      guard.stop();
    }
  }

  #patience(timeout: Duration): Duration {
    return this.#sendsBookmarks ? silence : timeout + timeoutGrace;
  }

  /** @returns what is still being collected after this event */
  #take(
    event: WatchEvent<Live<T>>,
    state: Map<string, Live<T>> | undefined,
  ): Map<string, Live<T>> | undefined {
    if (event.type === 'ERROR') {
      throw ApiError.fromEvent({ verb: 'WATCH', path: this.#resource.plural }, event.object);
    }
    if (event.type === 'BOOKMARK') {
      this.#sendsBookmarks = true;
      if (state && !isWhole(event)) return state;
      this.#version = event.object.metadata?.resourceVersion;
      return undefined;
    }
    const object = this.#options.reader ? event.object : this.#sink.arrive(event.object);
    if (state) {
      if (event.type === 'DELETED') state.delete(keyOf(object));
      else keep(state, object);
      return state;
    }
    if (event.type === 'DELETED') this.#sink.remove(object);
    else this.#sink.put(object);
    this.#version = event.object.metadata.resourceVersion;
    return undefined;
  }

  #selection() {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
  }
}

function keep<T extends KubeObject>(state: Map<string, Live<T>>, object: Live<T>): void {
  state.set(keyOf(object), object);
}

/** The bookmark that ends a streamed state. */
function isWhole(event: WatchEvent<unknown>): boolean {
  if (event.type !== 'BOOKMARK') return false;
  return event.object.metadata?.annotations?.[initialEventsEnd] === 'true';
}

/** A kube-apiserver that starts answers 429 "storage is (re)initializing" with Retry-After: 1 until its own caches are full. */
function patienceFor(error: unknown): Duration {
  if (!(error instanceof ApiError) || ![429, 503].includes(error.code)) return 0;
  return Math.min(error.retryAfter ?? 0, longestPatience);
}

/**
 * Refusals of the question itself: the feature is off (422, 1.30 and 1.31 by default), or what answers is no kube-apiserver
 * and does not know it.
 */
function cannotStream(error: unknown): boolean {
  return error instanceof ApiError && [400, 405, 406, 415, 422].includes(error.code);
}
