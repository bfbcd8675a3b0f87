/**
 * A small API server for tests that shows the faults a real one cannot be made to show: it answers each request by the next
 * line of its script, and keeps what it was asked.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import type { Connection } from '../client/connection.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** Parsed JSON; undefined when empty. */
  readonly body: unknown;
}

export type Answer = (response: ServerResponse, asked: Asked) => void;

/** An answer in JSON. */
export function json(body: unknown, code = 200, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** A refusal, as the API server words it. */
export function refusal(code: number, reason: string, more: object = {}, headers = {}): Answer {
  return json({ kind: 'Status', status: 'Failure', code, reason, ...more }, code, headers);
}

/** The connection breaks without an answer. */
export const hangUp: Answer = (response) => {
  response.destroy();
};

export class ScriptedServer implements AsyncDisposable {
  readonly asked: Asked[] = [];
  /** Opened so far. */
  connections = 0;
  /** The bearer token that clients send; a function's worth of credentials. */
  token = 'first';
  /** How often a client wanted credentials that are not cached. */
  freshCredentials = 0;
  readonly #server: Server;
  readonly #script: Answer[] = [];
  #otherwise: Answer = refusal(500, 'InternalError', { message: 'the script has ended' });

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on('connection', () => (this.connections += 1));
  }

  static async start(): Promise<ScriptedServer> {
    const server = new ScriptedServer();
    await new Promise<void>((listening) => server.#server.listen(0, '127.0.0.1', listening));
    return server;
  }

  get connection(): Connection {
    const { port } = this.#server.address() as AddressInfo;
    const tls = {};
    return {
      server: `http://127.0.0.1:${port}`,
      namespace: 'default',
      tls: async () => tls,
      headers: async (how) => {
        if (how?.fresh) this.freshCredentials += 1;
        return { authorization: `Bearer ${this.token}` };
      },
    };
  }

  /** The next requests get these answers, in this order. */
  script(...answers: Answer[]): void {
    this.#script.push(...answers);
  }

  /** What requests get that no script is left for. */
  otherwise(answer: Answer): void {
    this.#otherwise = answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((done) => this.#server.close(done));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://scripted');
    const asked: Asked = {
      method: request.method ?? '',
      path: pathname,
      query: searchParams,
      headers: request.headers,
      body: body === '' ? undefined : JSON.parse(body),
    };
    this.asked.push(asked);
    (this.#script.shift() ?? this.#otherwise)(response, asked);
  }
}

/** A watch as the server's side holds it: what is sent, how it ends. */
export class ScriptedWatch {
  readonly #contentType: string;
  readonly #opened = Promise.withResolvers<ServerResponse>();
  readonly #closed = Promise.withResolvers<void>();

  constructor(contentType = 'application/json') {
    this.#contentType = contentType;
  }

  /** To be put into a script. */
  readonly answer: Answer = (response) => {
    response.writeHead(200, { 'content-type': this.#contentType });
    response.flushHeaders();
    response.on('close', () => this.#closed.resolve());
    this.#opened.resolve(response);
  };

  /** Resolves once a client watches. */
  async opened(): Promise<void> {
    await this.#opened.promise;
  }

  /** Resolves once the client has gone, or the watch has ended. */
  async closed(): Promise<void> {
    await this.#closed.promise;
  }

  async send(type: string, object: object): Promise<void> {
    await this.write(`${JSON.stringify({ type, object })}\n`);
  }

  /** Bytes as they are: for what is no event. */
  async write(bytes: string | Uint8Array): Promise<void> {
    const response = await this.#opened.promise;
    await new Promise<void>((written) => response.write(bytes, () => written()));
  }

  /** As the server ends a watch at its timeout. */
  async end(): Promise<void> {
    (await this.#opened.promise).end();
  }

  /** As a network breaks. */
  async cut(): Promise<void> {
    (await this.#opened.promise).destroy();
  }
}
