import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { newKey } from '#pki/new-request.ts';

import { AcmeClient } from './client.ts';

const { signal } = new AbortController();
const badNonce = JSON.stringify({ type: 'urn:ietf:params:acme:error:badNonce', detail: 'stale' });

let server: Server;
let client: AcmeClient;
/** How many nonces are refused before one is taken. */
let stale: number;
let posts: number;
let given: Set<string>;
/** Nonces that were used twice, or that nobody gave out. */
let wrong: string[];

beforeEach(async () => {
  [stale, posts, given, wrong] = [0, 0, new Set(), []];
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const nonce = `n${given.size + wrong.length}-${posts}`;
      response.setHeader('replay-nonce', nonce);
      if (request.method === 'POST') take(Buffer.concat(parts).toString());
      given.add(nonce);
      const isStale = request.method === 'POST' && posts++ < stale;
      if (isStale) return response.writeHead(400).end(badNonce);
      const directory = { newNonce: `${url()}/nonce`, newAccount: `${url()}/account` };
      return response
        .writeHead(200, { location: `${url()}/account/1` })
        .end(request.url === '/dir' ? JSON.stringify(directory) : undefined);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directoryURL = `${url()}/dir`;
  client = new AcmeClient({
    directoryURL,
    accountKey: await newKey(),
    email: undefined,
    ca: undefined,
  });
});
afterEach(async () => {
  await client.close();
  server.close();
});

const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function take(body: string): void {
  const { protected: header } = JSON.parse(body) as { protected: string };
  const { nonce } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { nonce: string };
  if (!given.delete(nonce)) wrong.push(nonce);
}

test('a stale nonce is no trouble: the answer brings a fresh one, and none is used twice', async () => {
  stale = 3;
  await expect(client.account(signal)).resolves.toBe(`${url()}/account/1`);
  expect(posts).toBe(4);
  expect(wrong).toEqual([]);
});

test('an authority that takes no nonce at all is given up', async () => {
  stale = Infinity;
  await expect(client.account(signal)).rejects.toMatchObject({ type: 'badNonce' });
  expect(posts).toBe(9);
});
