import type { Readable } from 'node:stream';

/** So many bytes may wait until the server is held back, and little more is handed on at once. */
const mostWaiting = 256 * 1024;

/**
 * The body of an answer, all that has come of it at a time.
 *
 * Who iterates over a stream pays for each chunk with promises, and with a copy where several wait; an API server sends
 * each event in a chunk of its own. What a stream hands on by itself is a call.
 */
export class Chunks {
  readonly #body: Readable;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => {};

  constructor(body: Readable) {
    this.#body = body;
    body.on('error', (error) => this.#end({ error }));
    body.on('end', () => this.#end());
    body.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  /**
   * What has come since, once there is something; undefined: the body has ended as it should. Whatever the body was
   * destroyed with is thrown, before what still waits.
   */
  async next(): Promise<readonly Buffer[] | undefined> {
    if (this.#bytes === 0 && !this.#isOver) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    if (this.#failure) throw this.#failure.error;
    if (this.#bytes === 0) return undefined;
    const chunks = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    if (this.#body.isPaused()) this.#body.resume();
    return chunks;
  }

  /** Gives up what has not come yet, and with it the connection. */
  close(): void {
    this.#body.destroy();
  }

  #take(chunk: Buffer): void {
    this.#waiting.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= mostWaiting) this.#body.pause();
    this.#wake();
  }

  #end(failure?: { readonly error: unknown }): void {
    this.#failure ??= failure;
    this.#isOver = true;
    this.#wake();
  }
}
