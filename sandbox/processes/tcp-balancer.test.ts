import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { text } from 'node:stream/consumers';

import { afterEach, expect, test } from 'vitest';

import { freePort } from './ports.ts';
import { TcpBalancer, type Backend } from './tcp-balancer.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** Answers each connection with its name. */
async function replica(name: string): Promise<Backend & { server: Server }> {
  const server = createServer((socket) => socket.end(name)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => server.close());
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port, server };
}

async function balancer(backends: () => readonly Backend[]): Promise<TcpBalancer> {
  const started = await TcpBalancer.start(backends);
  closing.push(() => started.stop());
  return started;
}

const ask = async ({ port }: TcpBalancer): Promise<string> =>
  text(connect({ host: '127.0.0.1', port }));

test('connections go to the replicas in turn', async () => {
  const replicas = [await replica('a'), await replica('b')];
  const front = await balancer(() => replicas);

  const answers = [await ask(front), await ask(front), await ask(front), await ask(front)];

  expect(answers).toEqual(['a', 'b', 'a', 'b']);
});

test('a replica that is down costs no connection', async () => {
  const gone = { host: '127.0.0.1', port: await freePort() };
  const replicas = [gone, await replica('alive')];
  const front = await balancer(() => replicas);

  expect([await ask(front), await ask(front)]).toEqual(['alive', 'alive']);
});

test('replicas that become ready later are used, and without any the client is cut off', async () => {
  const ready: Backend[] = [];
  const front = await balancer(() => ready);
  expect(await ask(front)).toBe('');

  ready.push(await replica('late'));

  expect(await ask(front)).toBe('late');
});
