import { setImmediate as turn } from 'node:timers/promises';

import type { ObjectReader, WatchEvent } from './client.ts';
import { inFrames, inLines, type EventForm } from './event-forms.ts';
import { protobuf } from './protobuf-object.ts';
import { failedIn, type Request, type Stream } from './transport.ts';

/**
 * How many bytes are read before the event loop gets a turn: of JSON some fifty Pods, two or three milliseconds. Where a
 * server sends faster than we read, all else would wait until it has sent everything.
 */
const turnAfter = 256 * 1024;

/**
 * The events in the body of a watch, in the form that the server chose. Ends when the server ends the body as it should.
 *
 * @param open  asks for the body, once events are asked for
 * @param reader  makes the objects that are told of; needed for protobuf
 * @throws MalformedAnswer for what is no event, ConnectionError when the body is cut off
 */
export async function* readEvents<T>(
  open: () => Promise<Stream>,
  request: Request,
  reader: ObjectReader<T> | undefined,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const { contentType, body } = await open();
  const form: EventForm<T> =
    reader && contentType.startsWith(protobuf)
      ? inFrames(request, reader)
      : inLines(request, reader);
  const chunks = body[Symbol.asyncIterator]();
  let sinceTurn = 0;
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- a stream
      const { done, value } = await chunks.next().catch(failedIn(request));
      if (done) break;
      for (const piece of form.cut(value)) yield form.event(piece);
      sinceTurn += value.length;
      if (sinceTurn < turnAfter) continue;
      sinceTurn = 0;
      await turn(); // oxlint-disable-line no-await-in-loop
    }
  } finally {
    await chunks.return?.(); // gives the connection up when the reader has had enough
  }
  for (const piece of form.last()) yield form.event(piece);
}
