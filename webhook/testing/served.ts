import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';

import { Authority } from '#pki/authority.ts';
import type { PemPair } from '#pki/certificate.ts';
import { minutes, type Clock, type Duration } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { TlsListener } from '../tls-listener.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** On a connection that had been used before. */
  readonly reused: boolean;
}

export interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, anything else as it is. */
  readonly body?: object | string | Buffer;
  readonly agent?: Agent;
  /** Part of the body never comes. */
  readonly endless?: boolean;
  /** Who calls. */
  readonly client?: PemPair;
}

const name = 'webhook.test.svc';

/** An admission server over real TLS on loopback, called by somebody who trusts it as the API server would. */
export class Served implements AsyncDisposable {
  readonly listener: TlsListener;
  readonly authority: Authority;
  readonly stop = new AbortController();
  /** The listener's own end. */
  readonly ended: Promise<void>;
  readonly #agents: Agent[] = [];

  private constructor(
    listener: TlsListener,
    authority: Authority,
    ended: Promise<void>,
    stop: AbortController,
  ) {
    this.listener = listener;
    this.authority = authority;
    this.ended = ended;
    this.stop = stop;
  }

  static async start(
    app: RequestListener,
    options: { clock?: Clock; shutdownDelay?: Duration; clientCa?: string } = {},
  ): Promise<Served> {
    const real = new SystemClock(); // certificates are judged by real time
    const authority = await Authority.create(real, { commonName: 'test', validity: minutes(5) });
    const leaf = await authority.issue({ names: [name], validity: minutes(5) });
    const { clock = real, shutdownDelay = 0, clientCa } = options;
    const listener = new TlsListener({
      app,
      leaf,
      clientCa,
      host: '127.0.0.1',
      port: 0,
      clock,
      shutdownDelay,
    });
    const stop = new AbortController();
    const ended = listener.run(stop.signal);
    while (listener.port === undefined) {
      // oxlint-disable-next-line no-await-in-loop -- a turn of the event loop at a time, unless it has failed
      await Promise.race([ended, new Promise((turn) => setImmediate(turn))]);
    }
    return new Served(listener, authority, ended, stop);
  }

  get port(): number {
    return this.listener.port ?? 0;
  }

  /** PEM. */
  get ca(): string {
    return this.authority.pem.certificate;
  }

  /** Keeps its connections, as Go's client does; closed with the server. */
  agent(): Agent {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    this.#agents.push(agent);
    return agent;
  }

  async call(
    path: string,
    { body = '', agent, method = 'POST', headers, client, endless }: Call = {},
  ): Promise<Reply> {
    const call = request({
      host: '127.0.0.1',
      port: this.port,
      path,
      method,
      servername: name,
      ca: this.ca,
      ...(client && { cert: client.certificate, key: client.privateKey }),
      agent: agent ?? false,
      headers: { 'content-type': 'application/json', ...headers },
    });
    const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    if (endless) call.write(bytes);
    else call.end(bytes);
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    call.on('error', () => {}); // a body that is not wanted may still be on its way when the connection ends
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text: await text(response),
      reused: call.reusedSocket,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents) agent.destroy();
    this.stop.abort();
    await this.ended;
  }
}
