import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { Logger } from '#kube/log.ts';
import type { Runnable } from '#kube/runtime/reconciler.ts';
import { renewalOf, type PemPair } from '#pki/certificate.ts';
import { hours, minutes, seconds, type Clock, type Duration } from '#schemas/time/clock.ts';

import type { BootstrapSettings } from '../bootstrap-mode.ts';
import type { BootstrapKeys } from './keys.ts';

/** In memory alone, and renewed at two thirds. */
const leafValidity = hours(24);
const interval = minutes(1);
/** Until the authority could be read for the first time. */
const again = seconds(2);
/** What is being answered when the process ends has this long. */
const lastAnswers = seconds(2);

export interface ListenerParts {
  readonly app: RequestListener;
  readonly keys: BootstrapKeys;
  readonly settings: Pick<BootstrapSettings, 'port' | 'hostnames'>;
  readonly host: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Serves machines over TLS with a leaf of its own, signed by the authority that all replicas share and that machines
 * are told to believe. It looks once a minute whether the authority is another one, and whether the leaf or the signing
 * keys are due.
 */
export class BootstrapListener implements Runnable {
  readonly name = 'bootstrap.listener';
  readonly #parts: ListenerParts;
  #leaf: { readonly pair: PemPair; readonly issuer: string } | undefined;
  #server: Server | undefined;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
  }

  /** Undefined while it does not listen. */
  get port(): number | undefined {
    return (this.#server?.address() as AddressInfo | null | undefined)?.port;
  }

  /** For readiness; undefined when all is well. */
  get trouble(): string | undefined {
    return this.port === undefined ? 'it does not listen yet' : undefined;
  }

  /** @throws {Error} when the port cannot be had */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    while (!signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one look after the other
      const wait = await this.#look();
      // oxlint-disable-next-line no-await-in-loop -- as above
      await this.#listen();
      // oxlint-disable-next-line no-await-in-loop -- as above
      await clock.sleep(wait, signal).catch(() => {});
    }
    await this.#close();
  }

  /** Puts leaf and keys in order; what cannot be had now leaves those before. @returns when to look again */
  async #look(): Promise<Duration> {
    const { keys, log } = this.#parts;
    try {
      if (await keys.rotate()) log.info({}, 'signs tokens of machines with a new key');
      await this.#follow();
      return interval;
    } catch (error) {
      log.warn({ err: error }, 'cannot keep up the bootstrap server');
      return this.#leaf ? interval : again;
    }
  }

  async #follow(): Promise<void> {
    const { keys, settings, clock } = this.#parts;
    const { authority } = await keys.current();
    const { certificate: issuer } = authority.pem;
    if (this.#leaf?.issuer === issuer && !isDue(this.#leaf.pair, clock)) return;
    const pair = await authority.issue({ names: settings.hostnames, validity: leafValidity });
    this.#leaf = { pair, issuer };
    this.#server?.setSecureContext(contextOf(pair));
  }

  async #listen(): Promise<void> {
    if (this.#server || !this.#leaf) return;
    const { app, host, settings } = this.#parts;
    const limits = { handshakeTimeout: 5000, headersTimeout: 10_000, requestTimeout: 15_000 };
    const server = createServer({ ...contextOf(this.#leaf.pair), ...limits }, app);
    server.maxConnections = 1000;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', (cause: Error) =>
      reject(new Error(`cannot listen on ${host}:${settings.port}: ${cause.message}`, { cause })),
    );
    server.listen(settings.port, host, resolve);
    await promise;
    this.#server = server;
  }

  async #close(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    const closed = new Promise((resolve) => server.close(resolve));
    const cancel = this.#parts.clock.after(lastAnswers, () => server.closeAllConnections());
    await closed;
    cancel();
  }
}

function isDue({ certificate }: PemPair, clock: Clock): boolean {
  return clock.from(renewalOf(certificate)) <= clock.now();
}

function contextOf({ certificate: cert, privateKey: key }: PemPair) {
  return { cert, key, minVersion: 'TLSv1.2' as const };
}
