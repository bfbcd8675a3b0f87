import express, {
  type ErrorRequestHandler,
  type Express,
  type RequestHandler,
  type Response,
} from 'express';

import type { Logger } from '#kube/log.ts';
import type { Metrics } from '#kube/metrics.ts';

import { injectInto } from './injection.ts';
import { answerTo, BadReview, requestOf, type AdmissionRequest, type Decision } from './review.ts';
import { validate } from './validation.ts';

export type Decide = (request: AdmissionRequest) => Decision;

/** What the two webhook configurations call. */
export const hooks: Readonly<Record<string, Decide>> = {
  '/mutate/pods': injectInto,
  '/validate': validate,
};

/** Two objects of 3 MiB, the most that the API server takes, and the envelope; as controller-runtime. */
const bodyLimit = '7mb';

/** Seconds. A call may add 2 s to a Pod's creation at most, and adds less than a millisecond if all is well. */
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2];

export interface ServerParts {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Milliseconds since any moment, with fractions: a decision takes less than the whole ones that a Clock counts. */
  readonly stopwatch?: () => number;
  readonly hooks?: Readonly<Record<string, Decide>>;
}

/** The decision itself failed: a mistake of ours. The answer is 500, and the hook's failurePolicy decides. */
class Undecided extends Error {
  override readonly name = 'Undecided';
  readonly uid: string;

  constructor({ uid }: AdmissionRequest, cause: unknown) {
    super('the review cannot be decided', { cause });
    this.uid = uid;
  }
}

/**
 * The admission server as an express application, without its TLS: it parses, asks the pure decision, and answers.
 *
 * A body that cannot be read gets 400 (413 when it is too large), a mistake of ours 500; the API server then does what
 * the hook's failurePolicy says. Nothing is ever redirected, and no part of a body stands in an error.
 */
export function admissionServer(parts: ServerParts): Express {
  const app = express();
  for (const feature of ['x-powered-by', 'etag', 'query parser']) app.disable(feature);
  for (const feature of ['case sensitive routing', 'strict routing']) app.enable(feature);
  const raw = express.raw({ limit: bodyLimit, type: 'application/json' });
  const { hooks: served = hooks } = parts;
  for (const [path, decide] of Object.entries(served)) {
    app
      .route(path)
      .post(raw, reviewer(path, decide, parts))
      .all(postOnly);
  }
  app.use((_, response) => {
    refuse(response, 404, `no such hook; there are ${Object.keys(served).join(', ')}`);
  });
  app.use(failed(parts));
  return app;
}

function reviewer(path: string, decide: Decide, parts: ServerParts): RequestHandler {
  const { log, metrics, stopwatch = () => performance.now() } = parts;
  const duration = metrics.histogram(
    'karpenter_unikraft_webhook_duration_seconds',
    'From the whole body of a review to its answer.',
    ['path', 'outcome'],
    buckets,
  );
  return (request, response) => {
    const began = stopwatch();
    const review = requestOf(request.body);
    const decision = decided(decide, review);
    response.json(answerTo(review, decision));
    duration.observe({ path, outcome: outcomeOf(decision) }, (stopwatch() - began) / 1000);
    tell(log, path, review, decision);
  };
}

function decided(decide: Decide, review: AdmissionRequest): Decision {
  try {
    return decide(review);
  } catch (error) {
    throw new Undecided(review, error);
  }
}

function outcomeOf(decision: Decision): 'allowed' | 'patched' | 'denied' {
  if (!decision.allowed) return 'denied';
  return decision.patch?.length ? 'patched' : 'allowed';
}

/** Only what changed or stopped something; never whole objects. */
function tell(log: Logger, path: string, review: AdmissionRequest, decision: Decision): void {
  const outcome = outcomeOf(decision);
  if (outcome === 'allowed') return;
  const { uid, operation, namespace, name, kind, dryRun } = review;
  const facts = { path, uid, operation, kind: kind.kind, namespace, name, dryRun };
  if (decision.allowed) log.debug(facts, outcome);
  else log.info({ ...facts, because: decision.status.message }, outcome);
}

const postOnly: RequestHandler = (_, response) => {
  refuse(response.set('allow', 'POST'), 405, 'reviews are sent by POST');
};

function failed({ log, metrics }: ServerParts): ErrorRequestHandler {
  const failures = metrics.counter(
    'karpenter_unikraft_webhook_failures_total',
    'Calls without a decision: the caller’s fault below 500, ours from there.',
    ['path', 'status'],
  );
  // express knows an error handler by its four parameters
  return (error: unknown, request, response, _next) => {
    const status = statusOf(error);
    const { path } = request; // one of the hooks': nothing else can fail
    failures.inc({ path, status: String(status) });
    const uid = error instanceof Undecided ? error.uid : undefined;
    if (status >= 500) log.error({ err: error, path, uid }, 'cannot decide a review');
    else log.warn({ path, status, because: messageOf(error) }, 'cannot read a review');
    refuse(response, status, status >= 500 ? 'internal error' : messageOf(error), uid);
  };
}

/** What express and its parsers blame on the caller carries `expose` and a status. */
function statusOf(error: unknown): number {
  if (error instanceof BadReview) return 400;
  const { expose, status } = error as { expose?: unknown; status?: unknown };
  return expose === true && typeof status === 'number' && status >= 400 ? status : 500;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function refuse(response: Response, status: number, error: string, uid?: string): void {
  response.status(status).json({ error, uid });
}
