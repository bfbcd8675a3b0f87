import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

import { ApiError, ConnectionError } from '#kube/client/errors.ts';
import type { Logger } from '#kube/log.ts';
import type { Metrics } from '#kube/metrics.ts';
import { BootstrapRefused, KeysUnavailable, refusals } from '#machine/bootstrap/refusal.ts';
import { MachineError } from '#machine/errors.ts';
import { callbackPath } from '#machine/userdata/user-data.ts';
import { seconds, type Clock } from '#schemas/time/clock.ts';

import { coded } from '../reason.ts';
import { TooEarly, type Admit, type Call, type Granted } from './callback.ts';
import { Limiter, perAddress, perClaim } from './limiter.ts';

/** Bytes: two tokens and a request, of an RSA key at most, are under ten thousand. */
const largest = 32 * 1024;
/** A body comes in one piece; who takes longer than that only holds a connection. */
const patience = seconds(10);
/** Seconds that a machine waits before it calls again. */
const comeBack = '2';

const statuses = { token: 401, identity: 403, request: 422, replay: 409 } as const;

export interface BootstrapServerParts {
  readonly answer: (call: Call, admit: Admit) => Promise<Granted>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** An answer in place of secrets. No part of what was sent stands in one. */
class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * HTTP around {@link Callback}: one path, one method, small bodies, and few calls in vain for one machine. What is done
 * for a stranger is to read 32 KiB and to check one signature by a key that is at hand; nobody else is asked for it. So it
 * may be done often for one address, which may be a gateway with a whole fleet behind it.
 *
 * 4xx: the call gets nothing, and would not the next time. 503: it may be right, call again. 500: a mistake of ours.
 */
export function bootstrapServer(parts: BootstrapServerParts): RequestListener {
  const { clock, metrics } = parts;
  const addresses = new Limiter(clock, perAddress);
  const claims = new Limiter(clock, perClaim);
  const calls = metrics.counter(
    'karpenter_unikraft_bootstrap_calls_total',
    'Calls of machines for their secrets, by the status they were answered with.',
    ['status'],
  );
  const serve = async (request: IncomingMessage): Promise<Granted> => {
    let giveBack = entered(addresses, request.socket.remoteAddress ?? '');
    const admit: Admit = (claimUid) => {
      giveBack(); // its neighbours do not pay for it
      giveBack = entered(claims, claimUid);
    };
    try {
      refuseOther(request);
      const granted = await parts.answer(callIn(await readBody(request, clock)), admit);
      giveBack();
      return granted;
    } catch (error) {
      if (statusOf(error) >= 500) giveBack();
      throw error;
    }
  };
  return (request, response) => {
    serve(request).then(
      (granted) => {
        calls.inc({ status: '200' });
        send(response, 200, granted);
      },
      (error: unknown) => {
        const status = statusOf(error);
        calls.inc({ status: String(status) });
        note(parts.log, request, status, error);
        send(response, status, { error: messageOf(error, status) });
      },
    );
  };
}

/** @throws Refusal 429 */
function entered(limiter: Limiter, caller: string): () => void {
  const giveBack = limiter.enter(caller);
  if (!giveBack) throw new Refusal(429, 'too many calls in vain');
  return giveBack;
}

function refuseOther({ url, method, headers }: IncomingMessage): void {
  if (url !== callbackPath) throw new Refusal(404, 'nothing is served here');
  if (method !== 'POST') throw new Refusal(405, 'machines POST here');
  const { 'content-type': type = '', 'content-length': length = '0' } = headers;
  if (!/^application\/json\b/i.test(type)) throw new Refusal(415, 'the body must be JSON');
  if (Number(length) > largest) throw tooLarge();
}

async function readBody(request: IncomingMessage, clock: Clock): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= largest) chunks.push(chunk);
    else reject(tooLarge());
  });
  request.once('error', () => reject(new Refusal(400, 'the body broke off')));
  request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  const cancel = clock.after(patience, () => reject(new Refusal(408, 'the body came too slowly')));
  return promise.finally(cancel);
}

function tooLarge(): Refusal {
  return new Refusal(413, `the body is larger than ${largest} bytes`);
}

/** @throws Refusal 400 */
function callIn(body: string): Call {
  const { token, request, identity } = parsed(body);
  if (typeof token === 'string' && typeof request === 'string' && typeof identity === 'string') {
    return { token, request, identity };
  }
  throw new Refusal(400, 'the body must have token, request and identity as texts');
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(body)) as Record<string, unknown>;
  } catch {
    throw new Refusal(400, 'the body is no JSON');
  }
}

function statusOf(error: unknown): number {
  if (error instanceof Refusal) return error.status;
  if (error instanceof BootstrapRefused) return statuses[error.kind];
  return isPassing(error) ? 503 : 500;
}

/** A Secret that the class names may come yet, and an API server back, or be less busy. */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.code >= 500 || error.code === 429;
  const kinds = [TooEarly, KeysUnavailable, MachineError, ConnectionError];
  return kinds.some((kind) => error instanceof kind);
}

/** A stranger learns which of the things he showed was not good, which he knows; and nothing of ours. */
function messageOf(error: unknown, status: number): string {
  if (error instanceof BootstrapRefused) return coded(error.message, refusals[error.kind].code);
  if (error instanceof KeysUnavailable) return coded(error.message, 'KPU387');
  if (error instanceof Refusal || error instanceof TooEarly) return error.message;
  return status === 503 ? 'try again' : 'internal error';
}

function note(log: Logger, { socket }: IncomingMessage, status: number, error: unknown): void {
  const facts = { from: socket.remoteAddress, status, err: error };
  if (status === 500) log.error(facts, 'cannot answer a machine');
  else if (status === 503 && !(error instanceof TooEarly)) log.warn(facts, 'cannot answer yet');
  else log.info({ from: facts.from, status, why: messageOf(error, status) }, 'refused a call');
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    // whoever was refused begins anew, and what is left of a body that was too large is not read
    ...(status !== 200 && { connection: 'close' }),
    ...((status === 503 || status === 429) && { 'retry-after': comeBack }),
  });
  response.end(JSON.stringify(body));
}
