import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Scripted {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: object;
}

/** A problem as authorities write it (RFC 8555 §6.7). */
export const problem = (type: string, detail: string): object => ({
  type: `urn:ietf:params:acme:error:${type}`,
  detail,
});

/** An authority that opens accounts and answers orders as the test says, on loopback. It checks no signature. */
export class FakeAuthority {
  /** What a wish for an account is answered. */
  accounts: () => Scripted = () => ({ status: 201, body: { status: 'valid' } });
  /** What is read at an account's own address. */
  account: () => Scripted = () => ({ status: 200, body: { status: 'valid' } });
  orders: () => Scripted = () => ({ status: 500 });
  /** Paths, in order. */
  readonly asked: string[] = [];
  /** Payloads that were posted, by path. */
  readonly posted: { readonly path: string; readonly payload: Record<string, unknown> }[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<FakeAuthority> {
    const server = createServer((request, response) => {
      void authority.#answerTo(request).then(({ status, headers, body }) => {
        const nonce = `n${authority.asked.length}`;
        response.writeHead(status, { 'replay-nonce': nonce, ...headers });
        response.end(body && request.method !== 'HEAD' ? JSON.stringify(body) : undefined);
      });
    });
    const authority = new FakeAuthority(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return authority;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How often a path was asked for. */
  count(path: string): number {
    return this.asked.filter((one) => one === path).length;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answerTo(request: IncomingMessage): Promise<Scripted> {
    const { url: path = '', method } = request;
    this.asked.push(path);
    if (method === 'POST') {
      const { payload } = (await json(request)) as { payload: string };
      const text = Buffer.from(payload, 'base64url').toString() || '{}';
      this.posted.push({ path, payload: JSON.parse(text) as Record<string, unknown> });
    }
    const { url } = this;
    const found: Record<string, () => Scripted> = {
      '/dir': () => ({
        status: 200,
        body: { newNonce: `${url}/nonce`, newAccount: `${url}/account`, newOrder: `${url}/order` },
      }),
      '/nonce': () => ({ status: 200 }),
      '/account': () => {
        const { headers, ...rest } = this.accounts();
        return { ...rest, headers: { location: `${url}/account/1`, ...headers } };
      },
      '/account/1': this.account,
      '/order': this.orders,
    };
    return found[path]?.() ?? { status: 404 };
  }
}
