import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

import { type Clock, type Duration, type Instant, minutes } from '#schemas/time/clock.ts';

import { Faults, type Trouble } from './faults.ts';

/** An HTTP request, read whole. */
export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A refusal by the cloud, in the cloud's own code. */
export class CloudError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** How one API of a cloud looks on the wire and what its calls do. */
export interface Protocol<P> {
  /** Of its answers; absent: they are XML, as AWS has it. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Refuses a call without credentials; absent: an AWS signature is demanded. */
  admit?(authorization: string | undefined, exchange: Exchange): void;
  /** Which call this is; throws {@link CloudError} when it is none. */
  read(exchange: Exchange): { action: string; parameters: P };
  /**
   * Does it and renders the answer's body.
   *
   * @param region  that the call was signed for; empty where a cloud has no such signatures
   * @throws CloudError
   */
  act(action: string, parameters: P, requestId: string, region: string): string;
  refuse(error: CloudError, requestId: string): string;
}

/** One call as it was met: `outcome` is `ok`, an error's code, `lost` or `unheard`. */
export interface Call<P> {
  readonly action: string;
  readonly parameters: P;
  /** Access key of the signature, or token, that the call came with. */
  readonly by: string;
  /** That the call was signed for; empty where a cloud has no such signatures. */
  readonly region: string;
  readonly at: Instant;
  readonly outcome: string;
}

/** Calls that are remembered; a sandbox may stand for days. */
const kept = 20_000;

/**
 * An API of a cloud on a loopback port: it keeps a record of every call and meets each with the faults that were
 * scripted for it. Signatures are not verified, only demanded.
 */
export class WireService<P> {
  readonly faults = new Faults<P>();
  readonly calls: Call<P>[] = [];
  /** How far the service's clock goes before the caller's: past 15 minutes its signatures are refused. */
  clockAhead: Duration = 0;
  /** Regions from which nobody answers; `all`: nobody does. What they are asked is still recorded. */
  readonly away = new Set<string>();
  readonly #protocol: Protocol<P>;
  readonly #clock: Clock;
  readonly #server: Server;
  #requests = 0;

  constructor(protocol: Protocol<P>, clock: Clock) {
    this.#protocol = protocol;
    this.#clock = clock;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** `http://127.0.0.1:port`, once started. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get #headers(): Readonly<Record<string, string>> {
    return this.#protocol.headers ?? { 'content-type': 'text/xml;charset=UTF-8' };
  }

  /** Calls of one action, in order. */
  callsOf(action: string): readonly Call<P>[] {
    return this.calls.filter((call) => call.action === action);
  }

  async start(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    await promise;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = `sandbox-${++this.#requests}`;
    response.setHeader('date', new Date(Date.now() + this.clockAhead).toUTCString());
    try {
      const answer = await this.#answer(await readExchange(request), requestId);
      if (!answer) return void request.socket.destroy();
      response.writeHead(answer.status, this.#headers);
      response.end(answer.body);
    } catch (error) {
      const failure = new CloudError('InternalError', String(error), 500);
      response.writeHead(500).end(this.#protocol.refuse(failure, requestId));
    }
  }

  /** @returns undefined when the connection is to drop */
  async #answer(exchange: Exchange, requestId: string): Promise<Answer | undefined> {
    const { headers } = exchange;
    const refuse = (error: CloudError): Answer => ({
      status: error.status,
      body: this.#protocol.refuse(error, requestId),
    });
    let call: { action: string; parameters: P };
    try {
      if (this.#protocol.admit) this.#protocol.admit(headers.authorization, exchange);
      else demandSignature(headers, this.clockAhead);
      call = this.#protocol.read(exchange);
    } catch (error) {
      return refuse(asCloudError(error));
    }
    const [by, region] = [callerOf(headers), regionOf(headers)];
    const isAway = this.away.has('all') || this.away.has(region);
    const trouble: Trouble | undefined = isAway
      ? { kind: 'unheard' }
      : this.faults.meet(call.action, call.parameters);
    const { outcome, answer } = this.#act({ ...call, region }, trouble, requestId, refuse);
    this.calls.push({ ...call, by, region, at: this.#clock.now(), outcome });
    if (this.calls.length > kept) this.calls.shift();
    if (trouble?.kind === 'delay') await this.#clock.sleep(trouble.by);
    return answer;
  }

  #act(
    { action, parameters, region }: { action: string; parameters: P; region: string },
    trouble: Trouble | undefined,
    requestId: string,
    refuse: (error: CloudError) => Answer,
  ): { outcome: string; answer: Answer | undefined } {
    if (trouble?.kind === 'unheard') return { outcome: 'unheard', answer: undefined };
    try {
      if (trouble?.kind === 'error')
        throw new CloudError(trouble.code, trouble.message, trouble.status);
      const body = this.#protocol.act(action, parameters, requestId, region);
      const answer = { status: 200, body };
      return trouble?.kind === 'lost'
        ? { outcome: 'lost', answer: undefined }
        : { outcome: 'ok', answer };
    } catch (error) {
      const failure = asCloudError(error);
      return { outcome: failure.code, answer: refuse(failure) };
    }
  }
}

function callerOf({ authorization = '' }: IncomingHttpHeaders): string {
  const [, key, token = ''] = /Credential=([^/]+)\/|^Bearer (.*)$/.exec(authorization) ?? [];
  return key ?? token;
}

/** `AWS4-HMAC-SHA256 Credential=<key>/<day>/<region>/<service>/aws4_request, …` */
function regionOf({ authorization = '' }: IncomingHttpHeaders): string {
  return /Credential=[^/]+\/\d+\/([^/]+)\//.exec(authorization)?.[1] ?? '';
}

function asCloudError(error: unknown): CloudError {
  return error instanceof CloudError ? error : new CloudError('InternalError', String(error), 500);
}

/** Throws AuthFailure without a signature, and RequestExpired for one of another time. */
function demandSignature(headers: IncomingHttpHeaders, ahead: Duration): void {
  if (!headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=')) {
    throw new CloudError(
      'AuthFailure',
      'AWS was not able to validate the provided access credentials',
      401,
    );
  }
  refuseSkew(headers['x-amz-date'], ahead);
}

/** A signature is good for 15 minutes before and after its time. */
function refuseSkew(stamp: string | string[] | undefined, ahead: Duration): void {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(stamp)) ?? [];
  const [year = 0, month = 1, ...rest] = parts.map(Number);
  const skew = Math.abs(Date.now() + ahead - Date.UTC(year, month - 1, ...rest));
  if (parts.length > 0 && skew <= minutes(15)) return;
  throw new CloudError('RequestExpired', 'Request has expired.');
}

async function readExchange(request: IncomingMessage): Promise<Exchange> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return {
    method: request.method ?? 'GET',
    url: new URL(request.url ?? '/', 'http://127.0.0.1'),
    headers: request.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}
