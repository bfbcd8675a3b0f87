import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Ports below the range that systems take for outgoing connections (Linux from 32768, others from 49152): there a
 * client that keeps dialling a server that is down for a while could be given that very port, connect to itself,
 * and keep the server from coming back.
 */
const FIRST = 20_000;
const END = 32_000;

/**
 * A TCP port of 127.0.0.1 that is free at this moment. Another program may take it before it is used, so who
 * starts a server on it must be ready to try again with another one: see {@link withFreePort}.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(FIRST, END);
    // oxlint-disable-next-line no-await-in-loop -- the next try only when this one failed
    if (await isFree(port)) return port;
  }
  throw new Error(`no free TCP port between ${FIRST} and ${END} after 100 tries`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  const free = await promise;
  if (free) await new Promise((done) => server.close(done));
  return free;
}

/** The port was taken between finding and using it. */
export class PortTaken extends Error {
  override readonly name = 'PortTaken';
}

/** What a program's log says when another one has its port: Go's and Node's words for EADDRINUSE. */
export function saysPortTaken(log: string): boolean {
  return /address already in use|EADDRINUSE/.test(log);
}

/** Runs `start` with a free port, and again with another one when it throws {@link PortTaken}. */
export async function withFreePort<T>(start: (port: number) => Promise<T>, tries = 5): Promise<T> {
  try {
    return await start(await freePort());
  } catch (error) {
    if (tries > 1 && error instanceof PortTaken) return withFreePort(start, tries - 1);
    throw error;
  }
}
