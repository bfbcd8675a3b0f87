import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';

import type { Runnable } from '#kube/runtime/reconciler.ts';
import type { PemPair } from '#pki/certificate.ts';
import { seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

/** Go keeps an idle connection for 90 s; a server that closes first makes the API server's next call fail. */
const keepAlive = seconds(95);
/** Longer than that too: Go may dial one connection more than it needs, and a call comes on it only much later. */
const firstCall = seconds(100);
/** Spreads the API server's calls anew over the replicas now and then; a handshake costs as much as ten calls. */
const callsPerConnection = 4000;
/** What is being answered after the last connection was taken has this long to end. */
const lastAnswers = seconds(5);

export interface ListenerParts {
  readonly app: RequestListener;
  /** Absent: handshakes fail until there is one, see {@link TlsListener.serveWith}. */
  readonly leaf?: PemPair | undefined;
  /** PEM of who signs callers' certificates; absent: callers need none. */
  readonly clientCa?: string | undefined;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly clock: Clock;
  /** How long it still takes calls once it is told to end; those who send them need time to hear of it. */
  readonly shutdownDelay: Duration;
}

/**
 * Serves the admission server over TLS until the signal aborts, and a while longer: for `shutdownDelay` it answers as
 * ever but asks to close each connection, so that callers leave by themselves. A listener that closes at once breaks
 * connections with calls on the way.
 */
export class TlsListener implements Runnable {
  readonly name = 'webhook.listener';
  readonly #server: Server;
  readonly #parts: ListenerParts;
  readonly #connections = new Set<Socket>();
  /** The last answer that each connection was asked for, which may not have been given yet. */
  readonly #answers = new Map<Socket, ServerResponse>();
  #context: SecureContextOptions;
  #ending = false;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
    const { leaf, clientCa } = parts;
    this.#context = {
      minVersion: 'TLSv1.2',
      ...(leaf && { cert: leaf.certificate, key: leaf.privateKey }),
      ...(clientCa !== undefined && { ca: clientCa }),
    };
    this.#server = createServer(
      {
        ...this.#context,
        // who has no certificate that the CA signed does not get to say anything
        ...(clientCa !== undefined && { requestCert: true, rejectUnauthorized: true }),
        handshakeTimeout: seconds(10),
        keepAliveTimeout: keepAlive,
        headersTimeout: firstCall,
        requestTimeout: firstCall,
      },
      (request, response) => this.#serve(request, response),
    );
    this.#server.maxRequestsPerSocket = callsPerConnection;
    this.#server.on('secureConnection', (socket: Socket) => {
      socket.once('close', () => this.#answers.delete(socket));
    });
    this.#server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
  }

  /**
   * For connections to come; those that are open keep what they began with.
   *
   * @throws {Error} when the two do not belong together; what was served before is served still
   */
  serveWith({ certificate: cert, privateKey: key }: PemPair): void {
    this.#change({ ...this.#context, cert, key });
  }

  /** PEM of who signs callers' certificates from now on. @throws {Error} when it cannot be read; nothing changes then */
  trustCallersOf(ca: string): void {
    this.#change({ ...this.#context, ca });
  }

  #change(context: SecureContextOptions): void {
    this.#server.setSecureContext(context);
    this.#context = context;
  }

  /** Undefined while it does not listen. */
  get port(): number | undefined {
    return (this.#server.address() as AddressInfo | null)?.port;
  }

  /** @throws {Error} when the port cannot be had */
  async run(signal: AbortSignal): Promise<void> {
    await this.#listen();
    await aborted(signal);
    this.#leaveTogether();
    const { clock, shutdownDelay } = this.#parts;
    if (shutdownDelay > 0) await clock.sleep(shutdownDelay);
    await this.#close();
  }

  async #listen(): Promise<void> {
    const { host, port } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', (cause: Error) =>
      reject(new Error(`cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
    );
    this.#server.listen(port, host, resolve);
    await promise;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    this.#answers.set(request.socket, response);
    if (this.#ending) response.setHeader('connection', 'close');
    this.#parts.app(request, response);
  }

  #leaveTogether(): void {
    this.#ending = true;
    for (const response of this.#answers.values()) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
  }

  async #close(): Promise<void> {
    // Calls that have come and were not looked at yet are read first: their connections are not idle.
    await new Promise((turn) => setImmediate(turn));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve()); // idle connections are closed by it too
    const cancel = this.#parts.clock.after(lastAnswers, () => {
      for (const socket of this.#connections) socket.destroy(); // those in a handshake, those that never ask
    });
    await promise;
    cancel();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}
