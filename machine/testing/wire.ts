import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One request as it came over the wire. */
export interface Call {
  readonly method: string;
  readonly path: string;
  /** Query and form parameters together. */
  readonly parameters: URLSearchParams;
  readonly body: string;
  readonly authorization: string;
}

export interface Reply {
  readonly status?: number;
  /** Beside the usual ones; the content is XML unless they say otherwise. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `hang-up`: the connection is cut after the request was read, so that its outcome is unknown. */
export type Script = (call: Call) => Reply | 'hang-up';

/** A server on loopback that answers as the test says and remembers what it was asked. */
export class Wire {
  readonly calls: Call[] = [];
  script: Script = () => ({ status: 500, body: 'nothing scripted' });
  readonly #server = createServer();

  static async start(): Promise<Wire> {
    const wire = new Wire();
    wire.#server.on('request', (request: IncomingMessage, response) => {
      void wire.#answer(request).then((reply) => {
        if (reply === 'hang-up') return request.socket.destroy();
        return response
          .writeHead(reply.status ?? 200, {
            'content-type': 'text/xml',
            'x-amzn-requestid': 'r-9',
            ...reply.headers,
          })
          .end(reply.body);
      });
    });
    wire.#server.listen(0, '127.0.0.1');
    await once(wire.#server, 'listening');
    return wire;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage): Promise<Reply | 'hang-up'> {
    const body = await text(request);
    const { pathname, search } = new URL(request.url ?? '/', this.url);
    const isForm = request.headers['content-type']?.includes('form') ?? false;
    const parameters = new URLSearchParams(isForm ? body : search);
    const { method = '', headers } = request;
    const { authorization = '' } = headers;
    const call = { method, path: pathname, parameters, body, authorization };
    this.calls.push(call);
    return this.script(call);
  }
}

/** Nested fields as XML; the entries of a list become `<item>`s, as EC2 writes them. */
export function xml(fields: object): string {
  return Object.entries(fields)
    .map(([key, value]) => `<${key}>${content(value)}</${key}>`)
    .join('');
}

function content(value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => `<item>${content(item)}</item>`).join('');
  return value !== null && typeof value === 'object' ? xml(value) : String(value);
}
