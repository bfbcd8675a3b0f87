import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import type { Logger } from '#kube/log.ts';
import type { Metrics } from '#kube/metrics.ts';
import type { Clock, Instant } from '#schemas/time/clock.ts';
import { isoText } from '#schemas/time/iso-text.ts';

import { announcedBytes, readBody, tooLate } from './body.ts';
import { Gate } from './gate.ts';
import type { Decide, Hook, Hooks } from './hooks.ts';
import { Notes } from './notes.ts';
import { Refusal } from './refusal.ts';
import { answerTo, requestOf, type AdmissionRequest, type Decision } from './review.ts';
import { Routes, type Route } from './routes.ts';
import { traceOf } from './trace-parent.ts';

/** Seconds. A call may add 2 s to a Pod's creation at most, and adds less than a millisecond if all is well. */
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2];

export interface ServerParts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** By path. */
  readonly hooks: Hooks;
  readonly gate?: Gate;
  /** Default: some at a time. Whoever ends the process flushes them. */
  readonly notes?: Notes;
  /** Milliseconds since any moment, with fractions: a decision takes less than the whole ones that a Clock counts. */
  readonly stopwatch?: () => number;
}

interface Call {
  readonly route: Route;
  readonly request: IncomingMessage;
}

/**
 * The admission server without its TLS: it reads, asks the pure decision, and answers.
 *
 * What cannot be read gets a status from 400 to 415, what finds no room 503, what is late 504, a mistake of ours 500; the
 * API server then does what the hook's failurePolicy says. Nothing is ever redirected, and no part of a body stands in
 * an error. Paths are told apart by case and by a slash at the end.
 */
export function admissionServer(parts: ServerParts): RequestListener {
  const { metrics } = parts;
  const gate = parts.gate ?? new Gate();
  const routes = new Routes(parts.hooks);
  const server = new AdmissionServer(parts, gate, routes);
  const notes = parts.notes ?? new Notes(parts.clock);
  metrics.beforeRead(() => notes.flush());
  metrics.sample('karpenter_unikraft_webhook_calls', 'Calls under way.', {}, () => gate.calls);
  return (request, response) => {
    const call = { route: routes.of(request.url ?? ''), request };
    server
      .answer(call)
      .then(({ text, note }) => {
        send(response, 200, text);
        notes.add(note);
      })
      .catch((error: unknown) => server.refuse(call, response, error));
  };
}

interface Answer {
  readonly text: string;
  /** Counts the review and logs what it did: nobody's Pod waits for that. */
  readonly note: () => void;
}

class AdmissionServer {
  readonly #parts: ServerParts;
  readonly #gate: Gate;
  readonly #stopwatch: () => number;
  readonly #routes: Routes;
  /** Each series found once: to look it up by its labels costs more than to count. */
  readonly #durations: ReadonlyMap<string, Observe>;
  readonly #failures;

  constructor(parts: ServerParts, gate: Gate, routes: Routes) {
    const { metrics, stopwatch = () => performance.now() } = parts;
    this.#parts = parts;
    this.#gate = gate;
    this.#routes = routes;
    this.#stopwatch = stopwatch;
    this.#durations = durationsOf(metrics, routes.paths);
    this.#failures = metrics.counter(
      'karpenter_unikraft_webhook_failures_total',
      'Calls without a decision: the caller’s fault below 500, ours at 500, no room or no time above.',
      ['path', 'status'],
    );
  }

  /** @throws Refusal, or whatever a mistake of ours throws */
  async answer(call: Call): Promise<Answer> {
    const { clock } = this.#parts;
    const hook = this.#hookFor(call);
    const { time } = call.route;
    const end = clock.now() + time;
    const leave = this.#gate.enter(announcedBytes(call.request), hook);
    try {
      const body = await readBody(call.request, { clock, within: time });
      if (clock.now() > end) throw tooLate(); // nobody waits for it any more
      return this.#review(call, body, hook);
    } finally {
      leave();
    }
  }

  refuse({ route, request }: Call, response: ServerResponse, error: unknown): void {
    const { log } = this.#parts;
    const { path, hook } = route;
    const refusal =
      error instanceof Refusal ? error : new Refusal(500, 'internal error', { cause: error });
    const { status, message, uid } = refusal;
    const trace = traceOf(request.headers['traceparent']);
    if (hook) this.#failures.inc({ path, status: String(status) });
    if (status === 500)
      log.error({ path, uid, trace, err: refusal.cause }, 'cannot decide a review');
    else if (status !== 404) log.warn({ path, status, trace, because: message }, 'no decision');
    if (status === 405) response.setHeader('allow', 'POST');
    if (status === 504) response.setHeader('connection', 'close'); // the rest of a late body may never come
    send(response, status, JSON.stringify({ error: message, uid }));
  }

  #hookFor({ route: { hook }, request }: Call): Hook {
    if (!hook) throw new Refusal(404, `no such hook; there are ${this.#routes.paths.join(', ')}`);
    if (request.method !== 'POST') throw new Refusal(405, 'reviews are sent by POST');
    return hook;
  }

  #review(call: Call, body: Buffer, { decide }: Hook): Answer {
    const { path } = call.route;
    const { clock } = this.#parts;
    const began = this.#stopwatch();
    const review = requestOf(body);
    const decision = decided(decide, review);
    const text = JSON.stringify(answerTo(review, decision));
    const took = this.#stopwatch() - began;
    return {
      text,
      note: this.#note(path, took, decision, lineOf(call, review, decision, clock.now())),
    };
  }

  /** It holds on to nothing of the review: what is kept until others have come costs more than to count it. */
  #note(path: string, took: number, decision: Decision, line: Line | undefined): () => void {
    const observe = this.#durations.get(seriesOf(path, outcomeOf(decision)));
    return () => {
      observe?.(took / 1000);
      if (line) this.#parts.log.info(line.facts, line.message);
    };
  }
}

interface Line {
  readonly facts: object;
  readonly message: string;
}

/**
 * Only what changed or stopped something; never whole objects. A Pod that is patched is told in few words, since each
 * word costs as much as the patch itself.
 */
function lineOf(
  { route: { path }, request }: Call,
  review: AdmissionRequest,
  decision: Decision,
  at: Instant,
): Line | undefined {
  if (outcomeOf(decision) === 'allowed') return undefined;
  const { uid, operation, namespace, kind, dryRun } = review;
  const trace = traceOf(request.headers['traceparent']);
  const facts = {
    at: isoText(at),
    path,
    uid,
    namespace,
    ...nameIn(review),
    ...(trace && { trace }),
  };
  if (decision.allowed) return { facts: dryRun ? { ...facts, dryRun } : facts, message: 'patched' };
  const because = decision.status.message;
  return { facts: { ...facts, operation, kind: kind.kind, dryRun, because }, message: 'denied' };
}

/** A Pod of a controller has no name yet. */
function nameIn({ name, object }: AdmissionRequest): object {
  return name ? { name } : { generateName: object?.metadata?.generateName };
}

function decided(decide: Decide, review: AdmissionRequest): Decision {
  try {
    return decide(review);
  } catch (cause) {
    throw new Refusal(500, 'internal error', { uid: review.uid, cause });
  }
}

const outcomes = ['allowed', 'patched', 'denied'] as const;
type Outcome = (typeof outcomes)[number];
/** Seconds. */
type Observe = (took: number) => void;

function durationsOf(metrics: Metrics, paths: readonly string[]): ReadonlyMap<string, Observe> {
  const duration = metrics.histogram(
    'karpenter_unikraft_webhook_duration_seconds',
    'From the whole body of a review to its answer.',
    ['path', 'outcome'],
    buckets,
  );
  return new Map(
    paths.flatMap((path) =>
      outcomes.map((outcome) => {
        const series = duration.labels({ path, outcome });
        return [seriesOf(path, outcome), (took: number) => series.observe(took)] as const;
      }),
    ),
  );
}

const seriesOf = (path: string, outcome: Outcome): string => `${path} ${outcome}`;

function outcomeOf(decision: Decision): Outcome {
  if (!decision.allowed) return 'denied';
  return decision.patch?.length ? 'patched' : 'allowed';
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
