import { createServer } from 'node:net';

/**
 * A TCP port of 127.0.0.1 that is free at this moment. Another program may take it before it is used, so who
 * starts a server on it must be ready to try again with another one: see {@link withFreePort}.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
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
