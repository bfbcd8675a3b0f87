import { connect } from 'node:net';

import type { Clock, Duration } from '#schemas/time/clock.ts';

export interface ServerAddress {
  /** Name or address. */
  readonly server: string;
  readonly port: number;
}

/** The server did not answer all within the time that it had. */
export class ServerSilent extends Error {
  readonly code = 'ETIMEDOUT';
}

/** Messages are this long at most over TCP, where two bytes tell the length. */
export const largestMessage = 65_535;

/**
 * Sends messages over one TCP connection, all at once, and gathers the answers, which may come in any order
 * (RFC 7766 §6.2.1); they are told apart by the id of the message.
 *
 * @returns the answers in the order of the messages
 * @throws ServerSilent, or the system's error, when they do not all come
 */
export async function exchange(
  { server, port }: ServerAddress,
  messages: readonly Buffer[],
  { clock, within }: { clock: Clock; within: Duration },
): Promise<Buffer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer[]>();
  const awaited = new Set(messages.map(idOf));
  const answers = new Map<number, Buffer>();
  const at = `${server}:${port}`;
  const socket = connect({ host: server, port });
  const silent = clock.after(within, () => reject(new ServerSilent(`${at} does not answer`)));
  const read = frames((answer) => {
    if (awaited.has(idOf(answer))) answers.set(idOf(answer), answer);
    if (answers.size === awaited.size) {
      resolve(messages.flatMap((message) => answers.get(idOf(message)) ?? []));
    }
  });
  socket.once('connect', () => socket.write(Buffer.concat(messages.map(framed))));
  socket.on('data', (chunk: Buffer) => read(chunk));
  socket.once('error', reject);
  socket.once('close', () => reject(new ServerSilent(`${at} ended the connection`)));
  return promise.finally(() => {
    silent();
    socket.destroy();
  });
}

/** A message with its length before it, as it travels over TCP (RFC 1035 §4.2.2). */
export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

/** @returns what to feed with the bytes of a connection; `each` is given every whole message of at least a header */
export function frames(each: (message: Buffer) => void): (chunk: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
      const end = 2 + held.readUInt16BE(0);
      const message = held.subarray(2, end);
      held = held.subarray(end);
      if (message.length >= 12) each(message);
    }
  };
}

function idOf(message: Buffer): number {
  return message.readUInt16BE(0);
}
