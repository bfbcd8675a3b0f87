import express, { type Express, type NextFunction, type Request, type Response } from 'express';

import type { Logger } from '#kube/log.ts';
import type { Metrics } from '#kube/metrics.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { injectInto } from './injection.ts';
import { requestOf, responseTo, type AdmissionRequest, type Decision } from './review.ts';
import { validate } from './validation.ts';

/** Two objects of 3 MiB, the most that etcd takes, and the envelope; as controller-runtime. */
const bodyLimit = '7mb';

const hooks: Readonly<Record<string, (request: AdmissionRequest) => Decision>> = {
  '/mutate/pods': injectInto,
  '/validate': validate,
};

interface ServerParts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/**
 * The admission server as an express application, without its TLS: it parses, asks the pure decision, and answers.
 * A body that cannot be read gets 400; a mistake of ours gets 500, and the API server then does what the hook's
 * failurePolicy says.
 */
export function admissionServer({ log, metrics, clock }: ServerParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(express.json({ limit: bodyLimit, type: () => true }));
  const duration = metrics.histogram(
    'karpenter_unikraft_webhook_duration_seconds',
    'From the parsed review to its answer.',
    ['path', 'allowed'],
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
  );
  for (const [path, decide] of Object.entries(hooks)) {
    app.post(path, (request, response) => {
      const began = clock.now();
      const review = requestOf(request.body);
      const decision = decide(review);
      response.json(responseTo(review, decision));
      duration.observe({ path, allowed: String(decision.allowed) }, (clock.now() - began) / 1000);
      tell(log, path, review, decision);
    });
  }
  app.use((_: Request, response: Response) => {
    response
      .status(404)
      .json({ error: `no such hook; there are ${Object.keys(hooks).join(', ')}` });
  });
  app.use(failed(log));
  return app;
}

/** Only what changed or stopped something; never whole objects. */
function tell(log: Logger, path: string, review: AdmissionRequest, decision: Decision): void {
  if (decision.allowed && !decision.patch?.length) return;
  const { uid, operation, namespace, name, kind } = review;
  const facts = {
    path,
    uid,
    operation,
    namespace,
    name,
    kind: kind.kind,
    message: decision.message,
  };
  if (decision.allowed) log.debug(facts, 'mutated');
  else log.info(facts, 'denied');
}

/** express knows an error handler by its four parameters. */
function failed(log: Logger) {
  return (error: unknown, request: Request, response: Response, _next: NextFunction): void => {
    const status = statusOf(error);
    const uid = uidOf(request.body);
    log.error({ err: error, path: request.path, uid, status }, 'cannot answer a review');
    const message = error instanceof Error ? error.message : String(error);
    response.status(status).json({ error: message, uid });
  };
}

function statusOf(error: unknown): number {
  if (error instanceof TypeError) return 400;
  const { status } = error as { status?: unknown };
  return typeof status === 'number' && status >= 400 ? status : 500;
}

function uidOf(body: unknown): string | undefined {
  const uid = (body as { request?: { uid?: unknown } } | undefined)?.request?.uid;
  return typeof uid === 'string' ? uid : undefined;
}
