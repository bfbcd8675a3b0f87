import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';

import type { PemPair } from '#pki/certificate.ts';

import type { Exchange, Service } from './exchange.ts';

/** What a gate makes of one call. Both resolve late when the call is held. */
export interface Passage {
  /** Whether it may go on to the server. */
  readonly goesIn: () => Promise<boolean>;
  /** Whether its answer may go back; absent: nobody asks, and the answer streams. */
  readonly comesBack?: (answer: { status: number; body: string }) => Promise<boolean>;
}

export interface ProxyParts {
  readonly service: Service;
  /** `http://host:port` or `https://…`. */
  readonly upstream: string;
  /** What the upstream's certificate is judged by. */
  readonly ca?: string;
  /** Given: callers need TLS too. */
  readonly leaf?: PemPair;
  readonly gate: (exchange: Exchange) => Passage;
}

/**
 * Stands between the controller and one server, on loopback. What may not pass is cut off: the caller sees its
 * connection end, as it would when the other side dies.
 */
export class Proxy {
  readonly #parts: ProxyParts;
  readonly #server: Server;
  readonly #agent: http.Agent;
  readonly #sockets = new Set<Socket>();
  /** Nobody is reached: connections end as they come. */
  away = false;

  private constructor(parts: ProxyParts) {
    this.#parts = parts;
    const { leaf, ca } = parts;
    const serve = (from: IncomingMessage, to: ServerResponse): void => void this.#serve(from, to);
    this.#server = leaf
      ? https.createServer({ cert: leaf.certificate, key: leaf.privateKey }, serve)
      : createServer(serve);
    this.#server.on('connection', (socket: Socket) => this.#meet(socket));
    const keepAlive = { keepAlive: true };
    this.#agent = this.#isTls ? new https.Agent({ ...keepAlive, ca }) : new http.Agent(keepAlive);
  }

  static async start(parts: ProxyParts): Promise<Proxy> {
    const proxy = new Proxy(parts);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    proxy.#server.once('error', reject).listen(0, '127.0.0.1', resolve);
    await promise;
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http${this.#parts.leaf ? 's' : ''}://127.0.0.1:${this.port}`;
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    this.#agent.destroy();
    await closed;
  }

  get #isTls(): boolean {
    return this.#parts.upstream.startsWith('https:');
  }

  #meet(socket: Socket): void {
    if (this.away) return void socket.destroy();
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => this.#sockets.delete(socket));
  }

  async #serve(from: IncomingMessage, to: ServerResponse): Promise<void> {
    try {
      const body = await textOf(from);
      const { method = 'GET', url: path = '/' } = from;
      const passage = this.#parts.gate({ service: this.#parts.service, method, path, body });
      if (!(await passage.goesIn())) return void from.socket.destroy();
      const answer = await this.#forward(
        from,
        body,
        passage.comesBack === undefined ? to : undefined,
      );
      await (passage.comesBack ? give(answer, passage.comesBack, to) : stream(answer, to));
    } catch {
      from.socket.destroy(); // one of both sides is gone
    }
  }

  /** @param whom  whose going away ends the call too; absent: what was let through is carried out whatever happens */
  async #forward(
    { method, url, headers }: IncomingMessage,
    body: string,
    whom: ServerResponse | undefined,
  ): Promise<IncomingMessage> {
    const { upstream } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const send = this.#isTls ? https.request : request;
    const { 'transfer-encoding': _, ...rest } = headers;
    const own = { ...rest, 'content-length': String(Buffer.byteLength(body)) };
    const call = send(new URL(url ?? '/', upstream), {
      method,
      headers: body === '' ? rest : own,
      agent: this.#agent,
    });
    whom?.once('close', () => call.destroy());
    call.once('response', resolve).on('error', reject).end(body);
    return promise;
  }
}

function stream(answer: IncomingMessage, to: ServerResponse): void {
  to.writeHead(answer.statusCode ?? 502, answer.headers);
  answer.on('error', () => to.destroy());
  answer.pipe(to);
  to.flushHeaders();
}

async function give(
  answer: IncomingMessage,
  comesBack: NonNullable<Passage['comesBack']>,
  to: ServerResponse,
): Promise<void> {
  const body = await textOf(answer);
  const status = answer.statusCode ?? 502;
  if (!(await comesBack({ status, body }))) return void to.destroy();
  const { 'transfer-encoding': _, 'content-length': __, ...headers } = answer.headers;
  to.writeHead(status, headers).end(body);
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
