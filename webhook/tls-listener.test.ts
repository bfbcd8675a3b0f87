import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { silentLogger } from '#kube/log.ts';
import { Authority } from '#pki/authority.ts';
import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { handshakeProblem } from './certificate/handshake.ts';
import { ClientCa, onlyFrom } from './clients.ts';
import { Served } from './testing/served.ts';
import { TlsListener } from './tls-listener.ts';

const greet: RequestListener = (_, response) => response.end('hello');

test('a connection is kept between calls', async () => {
  await using served = await Served.start(greet);
  const agent = served.agent();
  const first = await served.call('/', { agent });
  const second = await served.call('/', { agent });
  expect([first.reused, second.reused]).toEqual([false, true]);
  expect(second.headers['keep-alive']).toBe('timeout=95, max=4000');
});

test('told to end, it answers for a while, asks callers to leave, and only then is gone', async () => {
  const clock = new FakeClock();
  await using served = await Served.start(greet, { clock, shutdownDelay: seconds(10) });
  const agent = served.agent();
  expect((await served.call('/', { agent })).headers.connection).toBe('keep-alive');

  served.stop.abort();
  await clock.forward(seconds(9));
  const late = await served.call('/', { agent });
  const newcomer = await served.call('/');
  expect([late.text, late.headers.connection]).toEqual(['hello', 'close']);
  expect([newcomer.text, newcomer.headers.connection]).toEqual(['hello', 'close']);

  await clock.forward(seconds(1));
  await served.ended;
  await expect(served.call('/')).rejects.toThrow(/ECONNREFUSED/);
});

test('what is being answered when it is told to end is answered, and its connection closed', async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const clock = new FakeClock();
  await using served = await Served.start((_, response) => asked.resolve(response), { clock });
  const call = served.call('/', { agent: served.agent() });
  const response = await asked.promise;

  served.stop.abort();
  await clock.forward(seconds(1));
  response.end('late');

  const reply = await call;
  expect([reply.text, reply.headers.connection]).toEqual(['late', 'close']);
  await served.ended;
});

test('idle connections, those that never shake hands, and those that never end are no reason to stay', async () => {
  const clock = new FakeClock();
  const asked = Promise.withResolvers<void>();
  const hang: RequestListener = ({ url }, response) => {
    if (url === '/hang') asked.resolve();
    else response.end();
  };
  await using served = await Served.start(hang, { clock });
  await served.call('/', { agent: served.agent() });
  const silent = connect({ port: served.port, host: '127.0.0.1' });
  await once(silent, 'connect');
  const hanging = served.call('/hang').catch((error: unknown) => error);
  await asked.promise;

  served.stop.abort();
  await clock.forward(seconds(6));

  await served.ended;
  expect(await hanging).toMatchObject({ code: 'ECONNRESET' });
  silent.destroy();
});

test('one without clients ends at once', async () => {
  const served = await Served.start(greet);
  served.stop.abort();
  await expect(served.ended).resolves.toBeUndefined();
});

test('a port that is taken is said', async () => {
  await using served = await Served.start(greet);
  const clock = new FakeClock();
  const authority = await Authority.create(clock, { commonName: 'x', validity: seconds(60) });
  const leaf = await authority.issue({ names: ['x'], validity: seconds(60) });
  const { port } = served;
  const parts = { app: greet, leaf, host: '127.0.0.1', port, clock, shutdownDelay: 0 };
  const second = new TlsListener(parts);
  await expect(second.run(new AbortController().signal)).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port}`,
  );
});

test('a handshake tells whether the API server would trust it', async () => {
  await using served = await Served.start(greet);
  await using other = await Served.start(greet);
  const { port, ca } = served;
  const peer = { host: '0.0.0.0', port, ca, servername: 'webhook.test.svc' };
  expect(await handshakeProblem(peer)).toBeUndefined();
  expect(await handshakeProblem({ ...peer, servername: 'other.test.svc' })).toMatch(/altnames/);
  expect(await handshakeProblem({ ...peer, ca: other.ca })).toMatch(/verify|signature/);
});

describe('another certificate', () => {
  test('is served to those who come; an open connection goes on with the one it began with', async () => {
    await using served = await Served.start(greet);
    const agent = served.agent();
    await served.call('/', { agent });
    const other = await Authority.create(new SystemClock(), {
      commonName: 'x',
      validity: seconds(60),
    });
    const names = ['webhook.test.svc'];
    served.listener.serveWith(await other.issue({ names, validity: seconds(60) }));

    expect((await served.call('/', { agent })).reused).toBe(true);
    const { port } = served;
    const peer = {
      host: '127.0.0.1',
      port,
      ca: other.pem.certificate,
      servername: 'webhook.test.svc',
    };
    expect(await handshakeProblem(peer)).toBeUndefined();
    expect(await handshakeProblem({ ...peer, ca: served.ca })).toMatch(/verify|signature/);
  });

  test('whose key is not its own is refused, and the one before stays', async () => {
    await using served = await Served.start(greet);
    const issue = async () => served.authority.issue({ names: ['x'], validity: seconds(60) });
    const [one, two] = [await issue(), await issue()];
    expect(() => served.listener.serveWith({ ...one, privateKey: two.privateKey })).toThrow(/key/);
    expect((await served.call('/')).text).toBe('hello');
  });
});

describe('A1: callers who have to show a certificate', () => {
  /** By the alert of TLS, or by the end of the connection, whichever comes first. */
  const refused = /certificate|hang up|ECONNRESET|EPIPE|alert/;
  const clock = new SystemClock();
  const authorityOf = async () =>
    Authority.create(clock, { commonName: 'clients', validity: seconds(60) });
  const named = async (by: Authority, name: string) =>
    by.issue({ names: [name], validity: seconds(60), purpose: 'client' });

  test('do not get to say anything without one, nor with one by somebody else', async () => {
    const clients = await authorityOf();
    const asked: string[] = [];
    const listen: RequestListener = ({ url = '' }, response) => {
      asked.push(url);
      response.end('hello');
    };
    await using served = await Served.start(listen, { clientCa: clients.pem.certificate });
    await expect(served.call('/none')).rejects.toThrow(refused);
    const stranger = await named(await authorityOf(), 'kube-apiserver');
    await expect(served.call('/stranger', { client: stranger })).rejects.toThrow(refused);
    expect(
      (await served.call('/known', { client: await named(clients, 'kube-apiserver') })).text,
    ).toBe('hello');
    expect(asked).toEqual(['/known']);
    const { port, ca } = served;
    expect(
      await handshakeProblem({ host: '127.0.0.1', port, ca, servername: 'webhook.test.svc' }),
    ).toBeUndefined();
  });

  test('may be asked for a name too', async () => {
    const clients = await authorityOf();
    const app = onlyFrom(['kube-apiserver'], greet);
    await using served = await Served.start(app, { clientCa: clients.pem.certificate });
    const client = await named(clients, 'kube-apiserver');
    const other = await named(clients, 'kubelet');
    expect((await served.call('/', { client })).text).toBe('hello');
    expect(await served.call('/', { client: other })).toMatchObject({
      status: 403,
      headers: { connection: 'close' },
    });
  });

  test('are known by what the file says now; what it cannot be leaves what it said', async () => {
    const [before, after] = [await authorityOf(), await authorityOf()];
    await using served = await Served.start(greet, { clientCa: before.pem.certificate });
    const folder = await mkdtemp(join(tmpdir(), 'clients-'));
    const file = join(folder, 'ca.crt');
    const { pem } = before;
    const trust = (text: string): void => served.listener.trustCallersOf(text);
    const follower = new ClientCa({ file, pem: pem.certificate, trust, clock, log: silentLogger });

    await follower.look(); // there is no such file
    const client = await named(before, 'x');
    expect((await served.call('/', { client })).text).toBe('hello');
    await writeFile(file, after.pem.certificate);
    await follower.look();
    await expect(served.call('/', { client })).rejects.toThrow(refused);
    expect((await served.call('/', { client: await named(after, 'x') })).text).toBe('hello');
    await rm(folder, { recursive: true });
  });
});
