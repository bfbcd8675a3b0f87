import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { Express } from 'express';

import type { PemPair } from '#pki/certificate.ts';
import { seconds } from '#schemas/time/clock.ts';

/** Go keeps an idle connection for 90 s; a server that closes first makes the API server's next call fail. */
const keepAlive = seconds(95);

export interface ListenerParts {
  readonly app: Express;
  readonly leaf: PemPair;
  readonly host: string;
  readonly port: number;
}

/** Serves the admission server over TLS until the signal aborts; reviews in flight are answered first. */
export class TlsListener {
  readonly name = 'webhook.listener';
  readonly #server: Server;
  readonly #parts: ListenerParts;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
    const { certificate: cert, privateKey: key } = parts.leaf;
    this.#server = createServer({ cert, key, minVersion: 'TLSv1.2' }, parts.app);
    this.#server.keepAliveTimeout = keepAlive;
    this.#server.headersTimeout = keepAlive + seconds(5);
  }

  /** Undefined while it does not listen. */
  get port(): number | undefined {
    return (this.#server.address() as AddressInfo | null)?.port;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const close = (): void => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    };
    this.#server.once('error', reject);
    this.#server.listen(this.#parts.port, this.#parts.host);
    if (signal.aborted) close();
    else signal.addEventListener('abort', close, { once: true });
    await promise;
  }
}
