import { setImmediate as turn } from 'node:timers/promises';

import { Chunks } from './chunks.ts';
import type { ObjectReader, WatchEvent } from './client.ts';
import { inFrames, inLines, type EventForm } from './event-forms.ts';
import { protobuf } from './protobuf-object.ts';
import { failedIn, type Request, type Stream } from './transport.ts';

/**
 * How many bytes are read before the event loop gets a turn: of JSON some fifty Pods, two or three milliseconds. Where a
 * server sends faster than we read, all else would wait until it has sent everything.
 */
const turnAfter = 256 * 1024;

/** Events that are whole, and not read yet. */
interface Batch<T> {
  readonly pieces: readonly unknown[];
  readonly form: EventForm<T>;
}

/**
 * The events in the body of a watch, in the form that the server chose. Ends when the server ends the body as it should.
 *
 * @param open  asks for the body, once events are asked for
 * @param reader  makes the objects that are told of; needed for protobuf
 * @returns events that are asked for one after the other; throws MalformedAnswer for what is no event, ConnectionError
 *   when the body is cut off
 */
export function readEvents<T>(
  open: () => Promise<Stream>,
  request: Request,
  reader: ObjectReader<T> | undefined,
): AsyncIterableIterator<WatchEvent<T>, void> {
  return new Events(batchesOf(open, request, reader));
}

/** Many events come at a time, and one that is there already costs no way through a generator. */
class Events<T> implements AsyncIterableIterator<WatchEvent<T>, void> {
  readonly #batches: AsyncGenerator<Batch<T>, void, void>;
  #batch: Batch<T> | undefined;
  #at = 0;

  constructor(batches: AsyncGenerator<Batch<T>, void, void>) {
    this.#batches = batches;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<WatchEvent<T>, void>> {
    while (!this.#batch || this.#at === this.#batch.pieces.length) {
      const { done, value } = await this.#batches.next(); // oxlint-disable-line no-await-in-loop -- until there is one
      if (done) return { done: true, value: undefined };
      this.#batch = value;
      this.#at = 0;
    }
    try {
      return { done: false, value: this.#batch.form.event(this.#batch.pieces[this.#at++]) };
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<WatchEvent<T>, void>> {
    this.#batch = undefined;
    await this.#batches.return();
    return { done: true, value: undefined };
  }
}

async function* batchesOf<T>(
  open: () => Promise<Stream>,
  request: Request,
  reader: ObjectReader<T> | undefined,
): AsyncGenerator<Batch<T>, void, void> {
  const { contentType, body } = await open();
  const form: EventForm<T> =
    reader && contentType.startsWith(protobuf)
      ? inFrames(request, reader)
      : inLines(request, reader);
  const chunks = new Chunks(body);
  let sinceTurn = 0;
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- a stream
      const come = await chunks.next().catch(failedIn(request));
      if (!come) break;
      yield { pieces: come.flatMap((chunk) => form.cut(chunk)), form };
      for (const { length } of come) sinceTurn += length;
      if (sinceTurn < turnAfter) continue;
      sinceTurn = 0;
      await turn(); // oxlint-disable-line no-await-in-loop
    }
  } finally {
    chunks.close(); // gives the connection up when the reader has had enough
  }
  yield { pieces: form.last(), form };
}
