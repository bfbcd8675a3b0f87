import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import type { TLSSocket } from 'node:tls';

import type { Logger } from '#kube/log.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import { minutes, type Clock } from '#schemas/time/clock.ts';

/**
 * Lets only callers in whose certificate has one of these common names; TLS has made sure of who signed it. The API
 * server shows one when its admission configuration says so (docs/tasks/admission.md).
 *
 * @param names empty: whoever has a certificate
 */
export function onlyFrom(names: readonly string[], app: RequestListener): RequestListener {
  if (names.length === 0) return app;
  return (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    if (names.includes(String(subject.CN))) {
      app(request, response);
      return;
    }
    const error = 'the common name of the client certificate is not among CLIENT_NAMES';
    response.writeHead(403, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify({ error }));
  };
}

/** A mounted file changes minutes after what it was made from; one look a minute adds little to that. */
const interval = minutes(1);

export interface ClientCaParts {
  readonly file: string;
  /** What was read at the start. */
  readonly pem: string;
  /** Takes the new content. @throws {Error} when it is none */
  readonly trust: (pem: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Follows the file that says who signs callers' certificates; what cannot be read or used leaves the one before. */
export class ClientCa implements Runnable {
  readonly name = 'webhook.client-ca';
  readonly #parts: ClientCaParts;
  #pem: string;

  constructor(parts: ClientCaParts) {
    this.#parts = parts;
    this.#pem = parts.pem;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      await this.#parts.clock.sleep(interval, signal).catch(() => {});
      // oxlint-disable-next-line no-await-in-loop -- as above
      if (!signal.aborted) await this.look();
    }
  }

  async look(): Promise<void> {
    const { file, trust, log } = this.#parts;
    try {
      const pem = await readFile(file, 'utf8');
      if (pem === this.#pem) return;
      trust(pem);
      this.#pem = pem;
      log.info({ file }, 'trusts another CA of callers');
    } catch (error) {
      log.warn({ file, err: error }, 'cannot follow the CA of callers');
    }
  }
}
