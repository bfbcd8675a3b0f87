/**
 * HTTP to the API server: connections that are kept, credentials that are renewed, refusals as errors, and what is safe
 * to repeat repeated.
 */
import type { Readable } from 'node:stream';

import type { Dispatcher } from 'undici';

import { seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

import type { Logger } from '../log.ts';
import { Agents } from './agents.ts';
import type { Connection } from './connection.ts';
import { ApiError, ConnectionError, type Call } from './errors.ts';
import { queryOf, type Query } from './paths.ts';
import { protobuf, statusIn } from './protobuf-object.ts';
import { retryDelay } from './retry.ts';

export interface Request extends Call {
  readonly query?: Query;
  readonly body?: unknown;
  /** Of the body; default `application/json`. */
  readonly contentType?: string;
  /** Forms that the answer may have; default `application/json`. */
  readonly accept?: string;
  /** Whether making the call twice is the same as making it once. */
  readonly idempotent: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Reply {
  readonly contentType: string;
  readonly text: string;
}

export interface Stream {
  readonly contentType: string;
  readonly body: Readable;
}

export interface TransportOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly userAgent: string;
  readonly random: () => number;
}

type Response = Dispatcher.ResponseData;
type Agent = 'calls' | 'watches';

export class Transport {
  readonly #connection: Connection;
  readonly #options: TransportOptions;
  readonly #agents: Agents;
  readonly #origin: string;
  readonly #prefix: string;

  constructor(connection: Connection, options: TransportOptions) {
    const { origin, pathname } = new URL(connection.server);
    this.#connection = connection;
    this.#options = options;
    this.#agents = new Agents(connection);
    this.#origin = origin;
    this.#prefix = pathname.replace(/\/+$/, '');
  }

  /** One call with its retries. @throws ApiError, ConnectionError, or the signal's reason */
  async send(request: Request): Promise<Reply> {
    const { clock, log, random } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- one try after the other
        return await this.#read(request);
      } catch (error) {
        const { verb, path, idempotent, signal } = request;
        const wait = retryDelay({ error, attempt, idempotent, random: random() });
        if (wait === undefined) throw error;
        log.debug({ verb, path, attempt, wait, err: error }, 'call is made again');
        // oxlint-disable-next-line no-await-in-loop -- one try after the other
        await clock.sleep(wait, signal);
      }
    }
  }

  /**
   * Opens a stream: never repeated here, since only who reads it knows from where to go on.
   *
   * @throws ApiError, ConnectionError, or the signal's reason; reading the body throws whatever the socket does
   */
  async open(request: Request): Promise<Stream> {
    const { headers, body } = await this.#exchange(request, 'watches');
    return { contentType: headerOf(headers, 'content-type') ?? '', body };
  }

  async close(): Promise<void> {
    await this.#agents.destroy();
  }

  async #read(request: Request): Promise<Reply> {
    const { headers, body } = await this.#exchange(request, 'calls');
    const text = await body.text().catch(failedIn(request));
    return { contentType: headerOf(headers, 'content-type') ?? '', text };
  }

  /** An answer other than 2xx is an error; a 401 is answered once with credentials that are read anew. */
  async #exchange(request: Request, agent: Agent): Promise<Response> {
    let response = await this.#dispatch(request, agent, false);
    if (response.statusCode === 401) {
      await response.body.dump();
      response = await this.#dispatch(request, agent, true);
    }
    if (response.statusCode < 300) return response;
    throw await refusalIn(response, request);
  }

  async #dispatch(request: Request, agent: Agent, fresh: boolean): Promise<Response> {
    const { verb, path, query = {}, body, signal } = request;
    const { accept = 'application/json', contentType = 'application/json' } = request;
    signal?.throwIfAborted();
    const credentials = await this.#connection.headers({ fresh });
    const agents = await this.#agents.current();
    return agents[agent]
      .request({
        origin: this.#origin,
        path: `${this.#prefix}${path}${queryOf(query)}`,
        method: verb as Dispatcher.HttpMethod,
        headers: {
          accept,
          'user-agent': this.#options.userAgent,
          ...(body === undefined ? {} : { 'content-type': contentType }),
          ...credentials,
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ?? null,
      })
      .catch(failedIn(request));
  }
}

/** Turns what a socket throws into our error, or into the reason of the caller who has given up. */
export function failedIn(request: Request): (cause: unknown) => never {
  return (cause) => {
    request.signal?.throwIfAborted();
    throw new ConnectionError(request, cause);
  };
}

/** In the form that was asked for: whoever asks for protobuf is refused in it. */
async function refusalIn(response: Response, request: Request): Promise<ApiError> {
  const answer = answerOf(response);
  if (!headerOf(response.headers, 'content-type')?.startsWith(protobuf)) {
    const text = await response.body.text().catch(failedIn(request));
    return ApiError.fromBody(request, answer, text);
  }
  const bytes = Buffer.from(await response.body.arrayBuffer().catch(failedIn(request)));
  return new ApiError(request, answer, statusIn(bytes) ?? {});
}

function answerOf({ statusCode, headers }: Response) {
  return {
    code: statusCode,
    requestId: headerOf(headers, 'audit-id'),
    retryAfter: retryAfterOf(headerOf(headers, 'retry-after')),
  };
}

/** Whole seconds, the only form the API server uses. */
function retryAfterOf(header: string | undefined): Duration | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? seconds(Number(header)) : undefined;
}

function headerOf(headers: Response['headers'], name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
