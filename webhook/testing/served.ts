import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';

import { Authority } from '#pki/authority.ts';
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
}

const name = 'webhook.test.svc';

/** An admission server over real TLS on loopback, called by somebody who trusts it as the API server would. */
export class Served implements AsyncDisposable {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
  readonly stop = new AbortController();
  /** The listener's own end. */
  readonly ended: Promise<void>;
  readonly #agents: Agent[] = [];

  private constructor(port: number, ca: string, ended: Promise<void>, stop: AbortController) {
    this.port = port;
    this.ca = ca;
    this.ended = ended;
    this.stop = stop;
  }

  static async start(
    app: RequestListener,
    options: { clock?: Clock; shutdownDelay?: Duration } = {},
  ): Promise<Served> {
    const real = new SystemClock(); // certificates are judged by real time
    const authority = await Authority.create(real, { commonName: 'test', validity: minutes(5) });
    const leaf = await authority.issue({ names: [name], validity: minutes(5) });
    const { clock = real, shutdownDelay = 0 } = options;
    const listener = new TlsListener({
      app,
      leaf,
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
    return new Served(listener.port, authority.pem.certificate, ended, stop);
  }

  /** Keeps its connections, as Go's client does; closed with the server. */
  agent(): Agent {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    this.#agents.push(agent);
    return agent;
  }

  async call(
    path: string,
    { body = '', agent, method = 'POST', headers }: Call = {},
  ): Promise<Reply> {
    const call = request({
      host: '127.0.0.1',
      port: this.port,
      path,
      method,
      servername: name,
      ca: this.ca,
      agent: agent ?? false,
      headers: { 'content-type': 'application/json', ...headers },
    });
    call.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
    const [response] = (await once(call, 'response')) as [IncomingMessage];
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
