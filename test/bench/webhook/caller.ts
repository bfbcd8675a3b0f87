import { connect, type TLSSocket } from 'node:tls';

export interface Target {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
}

/** Why a call was not answered as it should be. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * One connection that calls, waits for the answer, and calls again, with as little work of its own as can be: bytes
 * that are ready, and an eye for the end of the answer. Node's own client costs more than the server that is measured.
 */
export class Caller {
  readonly #target: Target;
  #socket: TLSSocket | undefined;
  #received = '';
  #waiting: Waiting | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  /** @throws CallFailed unless the answer is 200 and allows */
  async call(bytes: Buffer): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting = { resolve, reject };
    this.#socket ??= this.#open();
    this.#socket.write(bytes);
    await promise;
  }

  end(): void {
    this.#waiting = undefined;
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): TLSSocket {
    const { port, ca } = this.#target;
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
    socket.setEncoding('latin1').setNoDelay(true);
    socket.on('data', (text: string) => this.#take(text));
    socket.on('error', (error) => this.#fail(error.message));
    socket.once('close', () => {
      if (this.#socket === socket) this.#fail('the connection ended');
    });
    return socket;
  }

  #take(text: string): void {
    this.#received += text;
    const head = this.#received.indexOf('\r\n\r\n');
    if (head === -1) return;
    const [, length = '0'] = /content-length: (\d+)/i.exec(this.#received) ?? [];
    if (this.#received.length < head + 4 + Number(length)) return;
    const answer = this.#received;
    this.#received = '';
    if (/^connection: close/im.test(answer.slice(0, head))) this.#leave();
    if (!answer.startsWith('HTTP/1.1 200') || !answer.includes('"allowed":true')) {
      this.#fail(answer.slice(0, 200));
    } else this.#waiting?.resolve();
  }

  /** The server wants to spread its callers: the next call opens a new connection. */
  #leave(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.end();
  }

  #fail(why: string): void {
    const waiting = this.#waiting;
    this.end();
    this.#received = '';
    waiting?.reject(new CallFailed(why));
  }
}

export interface Calls {
  readonly done: number;
  readonly failed: number;
}

/** Calls without a pause on some connections until `enough`; the calls in turn. */
export async function callInTurn(
  target: Target,
  calls: readonly Buffer[],
  enough: (done: number) => boolean,
): Promise<Calls> {
  const counts = { started: 0, done: 0, failed: 0 };
  const line = async (): Promise<void> => {
    const caller = new Caller(target);
    while (!enough(counts.started)) {
      const bytes = calls[counts.started++ % calls.length] ?? Buffer.alloc(0);
      // oxlint-disable-next-line no-await-in-loop -- one call after the other on a connection
      await caller.call(bytes).then(
        () => (counts.done += 1),
        () => (counts.failed += 1),
      );
    }
    caller.end();
  };
  await Promise.all(Array.from({ length: 16 }, line));
  return counts;
}
