import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';

import { expect, test } from 'vitest';

import { Authority } from '#pki/authority.ts';
import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { handshakeProblem } from './certificate/handshake.ts';
import { Served } from './testing/served.ts';
import { TlsListener } from './tls-listener.ts';

const greet: RequestListener = (_, response) => response.end('hello');

test('a connection is kept between calls', async () => {
  await using served = await Served.start(greet);
  const agent = served.agent();
  const first = await served.call('/', { agent });
  const second = await served.call('/', { agent });
  expect([first.reused, second.reused]).toEqual([false, true]);
  expect(second.headers['keep-alive']).toBe('timeout=95, max=1000');
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
