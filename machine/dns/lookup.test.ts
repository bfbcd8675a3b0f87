import { createSocket } from 'node:dgram';
import { once } from 'node:events';

import { decode, encode, RECURSION_DESIRED } from 'dns-packet';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';

import { DnsUnavailable } from '../errors.ts';
import { DnsLookup } from './lookup.ts';

const signal = new AbortController().signal;
const socket = createSocket('udp4');
const known: Record<string, string[]> = { 'api.web-1.example.com': ['10.0.0.7', '10.0.0.8'] };
let lookup: DnsLookup;
/** TTL and MINIMUM of the zone are 900 s and 86,400 s, and 40 s of the first are over. */
const soa = {
  type: 'SOA' as const,
  name: 'example.com',
  ttl: 860,
  data: {
    mname: 'ns1.example.com',
    rname: 'hostmaster.example.com',
    serial: 1,
    refresh: 7200,
    retry: 900,
    expire: 1_209_600,
    minimum: 86_400,
  },
};

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
    const authorities = rcode === 3 ? [soa] : [];
    const answer = { type: 'response', id, flags, questions, answers, authorities } as const;
    socket.send(encode(answer), port, address);
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

test('a server says for how long it remembers that a name is not there, and nothing of one that is', async () => {
  await expect(lookup.absence('api.web-2.example.com', signal)).resolves.toBe(seconds(860));
  await expect(lookup.absence('api.web-1.example.com', signal)).resolves.toBeUndefined();
  await expect(lookup.absence('broken.example.com', signal)).resolves.toBeUndefined();
});
