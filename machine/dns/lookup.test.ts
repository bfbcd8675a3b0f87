import { createSocket } from 'node:dgram';
import { once } from 'node:events';

import { decode, encode, RECURSION_DESIRED } from 'dns-packet';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { DnsUnavailable } from '../errors.ts';
import { DnsLookup } from './lookup.ts';

const signal = new AbortController().signal;
const socket = createSocket('udp4');
const known: Record<string, string[]> = { 'api.web-1.example.com': ['10.0.0.7', '10.0.0.8'] };
let lookup: DnsLookup;

beforeAll(async () => {
  socket.on('message', (message, { port, address }) => {
    const { id = 0, questions = [] } = decode(message);
    const name = questions[0]?.name ?? '';
    const broken = name.startsWith('broken');
    const rcode = broken ? 2 : known[name] ? 0 : 3;
    const answers = (known[name] ?? []).map((data) => ({
      type: 'A' as const,
      name,
      ttl: 60,
      data,
    }));
    const flags = RECURSION_DESIRED | rcode;
    socket.send(encode({ type: 'response', id, flags, questions, answers }), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  lookup = new DnsLookup([`127.0.0.1:${socket.address().port}`]);
});
afterAll(() => socket.close());

test('a name has its addresses, and one that does not exist yet has none', async () => {
  const addresses = await lookup.lookup('api.web-1.example.com', signal);
  expect(addresses.toSorted()).toEqual(['10.0.0.7', '10.0.0.8']);
  await expect(lookup.lookup('api.web-2.example.com', signal)).resolves.toEqual([]);
});

test('a server that fails is not a name that does not exist', async () => {
  await expect(lookup.lookup('broken.example.com', signal)).rejects.toThrow(DnsUnavailable);
});

test('a lookup ends with its signal', async () => {
  const aborted = AbortSignal.abort(new Error('shutting down'));
  await expect(lookup.lookup('api.web-1.example.com', aborted)).rejects.toThrow('shutting down');
});
