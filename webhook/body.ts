import type { IncomingMessage } from 'node:http';

import type { Clock, Duration } from '#schemas/time/clock.ts';

import { Refusal } from './refusal.ts';

/** Bytes. Two objects of 3 MiB, the most that the API server takes, and the envelope; as controller-runtime. */
export const bodyLimit = 7 * 1024 * 1024;

/** `application/json`, with UTF-8 or nothing said of how it is written. */
const jsonType = /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i;

/** What a call says that it will send; the most that it may, when it does not say. @throws Refusal 400, 413, 415 */
export function announcedBytes({ headers }: IncomingMessage): number {
  const { 'content-type': type = '' } = headers;
  if (type !== 'application/json' && !jsonType.test(type)) {
    throw new Refusal(415, 'the body must be sent as application/json');
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw new Refusal(415, 'the body must be sent as it is, not encoded');
  const bytes = Number(headers['content-length'] ?? bodyLimit); // node has refused what is no number
  if (bytes > bodyLimit) throw tooLarge();
  return bytes;
}

/**
 * The whole body of a call.
 *
 * @throws Refusal 413 when it is too large, 504 when it is not there in time, 499 when the caller has gone
 */
export async function readBody(
  request: IncomingMessage,
  { clock, within }: { clock: Clock; within: Duration },
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= bodyLimit) {
      chunks.push(chunk);
      return;
    }
    chunks = []; // the rest is read, since the connection goes on after it, and kept nowhere
    reject(tooLarge());
  });
  request.once('error', () => reject(new Refusal(499, 'the caller has gone')));
  request.once('end', () =>
    resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
  );
  let cancel = (): void => {};
  // Most bodies come in one piece with their head, and are here before this turn ends: no timer is made for them.
  const lookout = setImmediate(() => {
    cancel = clock.after(within, () => reject(tooLate()));
  });
  try {
    return await promise;
  } finally {
    clearImmediate(lookout);
    cancel();
  }
}

function tooLarge(): Refusal {
  return new Refusal(413, `the body is larger than ${bodyLimit} bytes`);
}

export function tooLate(): Refusal {
  return new Refusal(504, 'the review could not be answered within its timeout');
}
