import { Agent } from 'undici';

import { seconds } from '#schemas/time/clock.ts';

import type { Connection, TlsOptions } from './connection.ts';

/** Calls that run at once; more wait in line, which keeps a burst of reconciles from flooding the server. */
const connections = 16;
/** The API server gives up on a call after 60 s; later no answer comes. */
const answerTimeout = seconds(65);
/** Idle connections: well under the 90 s after which the API server closes them, so that none is used as it closes. */
const idleTimeout = seconds(60);

interface Pair {
  readonly calls: Agent;
  /** Each stream holds a connection of its own, so that they cannot starve calls; silence is normal in them. */
  readonly watches: Agent;
}

/**
 * The pools of connections, made anew when certificates change. HTTP/1.1 on purpose: with HTTP/2 one lost packet, and
 * one half-open connection, would hold up every call and watch at once.
 */
export class Agents {
  readonly #connection: Connection;
  #tls: TlsOptions | undefined;
  #pair: Pair | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async current(): Promise<Pair> {
    const tls = await this.#connection.tls();
    if (this.#pair && this.#tls === tls) return this.#pair;
    const old = this.#pair;
    this.#tls = tls;
    this.#pair = makePair(tls);
    // What runs may end in peace; nobody waits for it, and what goes wrong in it is told to who runs it.
    if (old) void Promise.allSettled([old.calls.close(), old.watches.close()]);
    return this.#pair;
  }

  /** Cuts everything that runs. */
  async destroy(): Promise<void> {
    await Promise.all([this.#pair?.calls.destroy(), this.#pair?.watches.destroy()]);
  }
}

function makePair(tls: TlsOptions): Pair {
  const common = {
    allowH2: false,
    connect: { ...tls, timeout: seconds(10), keepAlive: true, keepAliveInitialDelay: seconds(30) },
    keepAliveTimeout: idleTimeout,
    keepAliveMaxTimeout: idleTimeout,
    headersTimeout: answerTimeout,
  };
  return {
    calls: new Agent({ ...common, connections, bodyTimeout: answerTimeout }),
    watches: new Agent({ ...common, bodyTimeout: 0 }),
  };
}
