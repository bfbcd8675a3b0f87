import type { WatchEvent } from './client.ts';
import { MalformedAnswer, type Call } from './errors.ts';
import { LineSplitter } from './lines.ts';
import { failedIn, type Request } from './transport.ts';

/**
 * The events in the body of a watch, one JSON object a line. Ends when the server ends the body as it should.
 *
 * @throws MalformedAnswer for a line that is no event, ConnectionError when the body is cut off
 */
export async function* readEvents<T>(
  body: AsyncIterable<Buffer>,
  request: Request,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const splitter = new LineSplitter();
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- a stream
      const { done, value } = await chunks.next().catch(failedIn(request));
      if (done) break;
      for (const line of splitter.push(value)) yield parseEvent<T>(line, request);
    }
  } finally {
    await chunks.return?.(); // gives the connection up when the reader has had enough
  }
  const rest = splitter.rest();
  if (rest.trim() !== '') yield parseEvent<T>(rest, request);
}

function parseEvent<T>(line: string, call: Call): WatchEvent<T> {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (cause) {
    throw new MalformedAnswer(call, line, cause);
  }
  if (isEvent(event)) return event as WatchEvent<T>;
  throw new MalformedAnswer(call, line, new TypeError('a watch event has a type and an object'));
}

function isEvent(value: unknown): value is { type: string; object: object } {
  if (typeof value !== 'object' || value === null) return false;
  const { type, object } = value as Record<string, unknown>;
  return typeof type === 'string' && typeof object === 'object' && object !== null;
}
