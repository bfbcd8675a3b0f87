import { connect } from 'node:tls';

import { seconds } from '#schemas/time/clock.ts';

export interface Peer {
  /** Where the server listens; all addresses (`0.0.0.0`, `::`) mean this computer. */
  readonly host: string;
  readonly port: number;
  /** PEM; nothing else is trusted. */
  readonly ca: string;
  /** What its certificate must be good for. */
  readonly servername: string;
}

/** Shakes hands with a server as the API server would. @returns why it would not be trusted; undefined if it would */
export async function handshakeProblem(peer: Peer): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const { port, ca, servername } = peer;
  const socket = connect({ host: reachable(peer.host), port, ca, servername });
  socket.setTimeout(seconds(1), () => socket.destroy(new Error('no answer within 1 s')));
  socket.once('secureConnect', () => resolve(undefined));
  socket.once('error', (error) => resolve(error.message));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

function reachable(host: string): string {
  const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return loopback[host] ?? host;
}
