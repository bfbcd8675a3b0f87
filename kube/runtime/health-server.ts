import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type Clock, seconds } from '#schemas/time/clock.ts';

import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { type Checks, type Findings, findingsOf } from './checks.ts';
import type { Runnable } from './reconciler.ts';

export interface HealthServerOptions {
  /** 0 takes a free one: see {@link HealthServer.listening}. */
  readonly port: number;
  /** Default: all addresses. */
  readonly host?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Answered at `/healthz`: a failure has the process restarted. */
  readonly live?: Checks | undefined;
  /** Answered at `/readyz`: a failure keeps requests away. */
  readonly ready?: Checks | undefined;
  /** Answered at `/metrics`. */
  readonly metrics?: Metrics | undefined;
}

interface Page {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
}

/**
 * Tells kubelet and Prometheus how the process is; what is not given is not served, so that probes and metrics can have
 * ports of their own.
 */
export class HealthServer implements Runnable {
  readonly name = 'health-server';
  readonly #options: HealthServerOptions;
  readonly #log: Logger;
  readonly #pages: ReadonlyMap<string, () => Promise<Page>>;
  readonly #listening = Promise.withResolvers<AddressInfo>();

  constructor(options: HealthServerOptions) {
    this.#options = options;
    this.#log = options.log.child({ controller: this.name });
    this.#pages = new Map(pagesOf(options));
    this.#listening.promise.catch(() => {}); // whoever runs the server hears of a failure from run
  }

  /** Where it listens, once it does; rejects when it cannot. */
  get listening(): Promise<AddressInfo> {
    return this.#listening.promise;
  }

  /** @throws {Error} when the port cannot be had */
  async run(signal: AbortSignal): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    try {
      this.#listening.resolve(await listen(server, this.#options));
    } catch (error) {
      this.#listening.reject(error);
      throw error;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (!signal.aborted) await promise;
    await this.#close(server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, type, body } = await this.#pageFor(request);
    response.writeHead(status, {
      'content-type': type ?? 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      ...(status === 405 && { allow: 'GET, HEAD' }),
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  async #pageFor({ method, url }: IncomingMessage): Promise<Page> {
    const page = this.#pages.get((url ?? '/').replace(/[?#].*$/u, ''));
    if (!page) return { status: 404, body: 'not found\n' };
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'read only\n' };
    try {
      return await page();
    } catch (error) {
      this.#log.error({ err: error, url }, 'cannot answer');
      return { status: 500, body: 'internal error\n' };
    }
  }

  /** Lets answers in progress a second. */
  async #close(server: Server): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    const cancel = this.#options.clock.after(seconds(1), () => server.closeAllConnections());
    await promise;
    cancel();
  }
}

function pagesOf({ live, ready, metrics, clock }: HealthServerOptions) {
  const pages: [string, () => Promise<Page>][] = [];
  if (live) pages.push(['/healthz', async () => pageOf(await findingsOf(live, clock))]);
  if (ready) pages.push(['/readyz', async () => pageOf(await findingsOf(ready, clock))]);
  if (metrics) {
    pages.push([
      '/metrics',
      async () => ({ status: 200, type: metrics.contentType, body: await metrics.text() }),
    ]);
  }
  return pages;
}

/** One line for each check, so that `kubectl get --raw` and a probe's event tell which one failed and why. */
function pageOf(findings: Findings): Page {
  const lines = findings.map(({ name, trouble }) =>
    trouble === undefined ? `[+] ${name}: ok` : `[-] ${name}: ${trouble}`,
  );
  const healthy = findings.every(({ trouble }) => trouble === undefined);
  lines.push(healthy ? 'ok' : 'not ok');
  return { status: healthy ? 200 : 503, body: `${lines.join('\n')}\n` };
}

async function listen(server: Server, { host, port }: HealthServerOptions): Promise<AddressInfo> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (cause) =>
    reject(new Error(`cannot listen on ${host ?? ''}:${port}: ${cause.message}`, { cause })),
  );
  server.listen({ port, ...(host !== undefined && { host }) }, resolve);
  await promise;
  return server.address() as AddressInfo;
}
