import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { ApiError, ConnectionError } from '#kube/client/errors.ts';
import { createLogger } from '#kube/log.ts';
import { Metrics } from '#kube/metrics.ts';
import { TokenIssuer } from '#machine/testing/token-issuer.ts';
import { newRequest } from '#pki/testing/requests.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { hours, minutes, seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { BootstrapWorld } from '../testing/bootstrap-world.ts';
import type { Call } from './callback.ts';
import { BootstrapKeys, bootstrapSecretName } from './keys.ts';
import { BootstrapListener } from './listener.ts';
import { bootstrapServer } from './server.ts';

let issuer: TokenIssuer;
let world: BootstrapWorld;
let claim: Live<NodeClaim>;
let lines: string[];
let metrics: Metrics;
let listener: BootstrapListener;
let end: AbortController;
let ended: Promise<void>;

beforeAll(async () => {
  issuer = await TokenIssuer.start();
});
afterAll(async () => issuer.stop());
beforeEach(async () => start(new FakeClock({ real: Date.now })));

/** @param clock  of a world whose time is not the real one nobody believes a certificate */
async function start(clock: FakeClock): Promise<void> {
  world = await BootstrapWorld.make(issuer, {}, clock);
  claim = await world.launched();
  issuer.calls = 0;
  lines = [];
  metrics = new Metrics();
  const { client, namespace } = world.context;
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ level: 'debug', name: 'controller', destination });
  const callback = world.newCallback();
  listener = new BootstrapListener({
    app: bootstrapServer({
      answer: async (...call) => callback.answer(...call),
      clock,
      log,
      metrics,
    }),
    keys: new BootstrapKeys(client, namespace, clock),
    settings: { port: 0, hostnames: ['bootstrap.example.com', 'localhost'] },
    host: '127.0.0.1',
    clock,
    log,
  });
  end = new AbortController();
  ended = listener.run(end.signal);
  await expect.poll(() => listener.trouble).toBeUndefined();
}

async function stop(): Promise<void> {
  end.abort();
  await ended;
}
afterEach(stop);

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly retryAfter: string | undefined;
}

const trusted = (): string => {
  const key = { namespace: world.context.namespace, name: bootstrapSecretName };
  return Buffer.from(world.client.peek(secrets, key)?.data?.['tls.crt'] ?? '', 'base64').toString();
};

/** As a machine posts: by TLS, believing only the authority of its user data. */
async function send(
  body: string | object,
  { path = '/v1/bootstrap', method = 'POST', type = 'application/json' } = {},
): Promise<Answer> {
  const sent = request({
    host: '127.0.0.1',
    port: listener.port,
    servername: 'bootstrap.example.com',
    ca: trusted(),
    agent: false,
    path,
    method,
    headers: { 'content-type': type },
  });
  sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const parsed = JSON.parse(await text(response)) as Record<string, unknown>;
  const { statusCode: status = 0, headers } = response;
  return { status, body: parsed, retryAfter: headers['retry-after'] };
}

const calls = async (): Promise<string[]> =>
  (await metrics.text())
    .split('\n')
    .filter((line) => line.startsWith('karpenter_unikraft_bootstrap'));

test('a machine gets its secrets over TLS, and no line of the log has a part of them', async () => {
  const call = await world.callOf(claim);
  const { status, body } = await send(call);
  expect(status).toBe(200);
  expect(body).toMatchObject({ users: [{ name: 'kraftlet' }], tls: {} });
  const replay = await send(call);
  expect(replay.status).toBe(409);
  expect(replay.body).toEqual({ error: expect.stringMatching(/has served at .* \(KPU385\)$/) });
  const [{ token }] = (body as unknown as { users: [{ token: string }] }).users;
  expect(lines.length).toBeGreaterThan(0);
  const told = lines.join('\n');
  const shown = Object.values(call).map((one) => String(one).slice(-24));
  for (const secret of [token, ...shown]) expect(told).not.toContain(secret);
  expect(await calls()).toEqual([
    'karpenter_unikraft_bootstrap_calls_total{status="200"} 1',
    'karpenter_unikraft_bootstrap_calls_total{status="409"} 1',
  ]);
});

describe('what is no call is refused without asking anybody:', () => {
  const call: Call = { token: 'e30.e30.c2ln', request: 'x', identity: 'y' };
  test.each<[what: string, status: number, ...Parameters<typeof send>]>([
    ['another path', 404, call, { path: '/v1/bootstrap/' }],
    ['another method', 405, call, { method: 'PUT' }],
    ['another type', 415, call, { type: 'text/plain' }],
    ['no JSON', 400, '{'],
    ['null', 400, 'null'],
    ['a part missing', 400, { token: 'a', request: 'b' }],
    ['a part of another kind', 400, { ...call, identity: { toString: 'y' } }],
    ['a large body', 413, { ...call, request: 'x'.repeat(33 * 1024) }],
    ['a token of nobody', 401, call],
  ])('%s', async (_, status, ...sent) => {
    await send(call); // the keys are read now and then, whoever calls
    const before = world.client.calls.length;
    const answer = await send(...sent);
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body)).toEqual(['error']);
    expect(world.client.calls.length).toBe(before);
    expect(issuer.calls).toBe(0);
  });
});

describe('behind one gateway, machines that are right get their secrets', () => {
  const stranger = { token: 'e30.e30.c2ln', request: 'x', identity: 'y' };
  /** One after the other. @returns the statuses */
  const often = async (times: number, call: object): Promise<number[]> => {
    const statuses: number[] = [];
    for (let time = 0; time < times; time++) {
      // oxlint-disable-next-line no-await-in-loop -- see above
      statuses.push((await send(call)).status);
    }
    return statuses;
  };

  test('beside one whose token is wrong', async () => {
    expect(new Set(await often(60, stranger))).toEqual(new Set([401]));
    expect((await send(await world.callOf(claim))).status).toBe(200);
  });

  test('beside one whose token is right and whose instance is not: it alone is sent away, and the API server left in peace', async () => {
    const neighbour = await world.launched('web-2');
    const wrong = { ...(await world.callOf(claim)), identity: world.identityOf(neighbour) };
    expect(await often(20, wrong)).toEqual(Array.from({ length: 20 }, () => 403));
    const before = world.client.calls.length;
    const { status, retryAfter } = await send(wrong);
    expect([status, retryAfter]).toEqual([429, '2']);
    expect(world.client.calls.length).toBe(before);
    expect((await send(await world.callOf(neighbour))).status).toBe(200);
    await world.clock.forward(seconds(1));
    expect((await send(await world.callOf(claim))).status).toBe(200);
  });

  test('when thirty call at once, with wrong ones among them', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `web-${index + 10}`);
    const claims = await Promise.all(names.map(async (name) => world.launched(name)));
    const asked = await newRequest();
    const all = await Promise.all(claims.map(async (one) => world.callOf(one, asked)));
    const answers = await Promise.all(
      all.flatMap((call) => [send(stranger), send(call)]).map(async (one) => (await one).status),
    );
    expect(new Set(answers.filter((_, index) => index % 2 === 0))).toEqual(new Set([401]));
    expect(new Set(answers.filter((_, index) => index % 2 === 1))).toEqual(new Set([200]));
  });
});

test('an address that floods is sent away before anything is read, and is heard again a moment later', async () => {
  const { clock, log } = world.context;
  const app = bootstrapServer({
    answer: async () => Promise.reject(new Error('nobody was to be asked')),
    clock,
    log,
    metrics: new Metrics(),
  });
  const statusOf = async (remoteAddress: string): Promise<number> =>
    new Promise((resolve) => {
      const asked = { socket: { remoteAddress }, url: '/', method: 'GET', headers: {} };
      app(asked as never, { writeHead: resolve, end: () => {} } as never);
    });
  const statuses = await Promise.all(Array.from({ length: 1100 }, async () => statusOf('a')));
  expect(statuses.filter((status) => status === 404)).toHaveLength(1000);
  expect(statuses.filter((status) => status === 429)).toHaveLength(100);
  expect(await statusOf('b')).toBe(404);
  await world.clock.forward(seconds(1));
  expect(await statusOf('a')).toBe(404);
});

test('a machine that is early is asked to call again, and pays nothing for it', async () => {
  claim = await world.announced('web-2');
  const call = await world.callOf(claim);
  for (let times = 0; times < 25; times++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, retryAfter } = await send(call);
    expect([status, retryAfter]).toEqual([503, '2']);
  }
  await world.launched('web-2');
  expect((await send(call)).status).toBe(200);
});

describe('while the API server', () => {
  const call = { verb: 'GET', path: '/' };
  const refused = (code: number): ApiError => new ApiError(call, { code }, { message: 'later' });
  test.each([
    ['is not there', new ConnectionError(call, new Error('read ECONNRESET'))],
    ['is too busy', refused(429)],
    ['starts', refused(503)],
  ])('%s, a machine is asked to call again, and its token has not served', async (_, error) => {
    for (const verb of ['get', 'patch']) {
      world.client.fail((one) => one.verb === verb, error);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { status, body } = await send(await world.callOf(claim));
      expect([status, body]).toEqual([503, { error: 'try again' }]);
    }
    expect((await send(await world.callOf(claim))).status).toBe(200);
  });
});

test('a mistake of ours is told to us, not to strangers', async () => {
  world.client.fail(({ verb }) => verb === 'get', new Error('a hole in the code of ours'));
  const { status, body } = await send(await world.callOf(claim));
  expect([status, body]).toEqual([500, { error: 'internal error' }]);
  expect(lines.join('\n')).toContain('a hole in the code of ours');
});

test('a body that comes too slowly is not waited for', async () => {
  const socket = connect({
    host: '127.0.0.1',
    port: listener.port ?? 0,
    rejectUnauthorized: false,
  });
  await once(socket, 'secureConnect');
  const head = 'POST /v1/bootstrap HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
  socket.write(`${head}content-length: 100\r\n\r\n{`);
  const answer = text(socket);
  await expect.poll(() => world.clock.waiting).toBeGreaterThan(1);
  await world.clock.forward(seconds(10));
  expect(await answer).toMatch(/^HTTP\/1\.1 408 /);
});

test('its certificate is renewed, and another authority is followed, without a restart', async () => {
  await stop();
  await start(new FakeClock());
  const serial = async (): Promise<string> => {
    const port = listener.port ?? 0;
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const first = await serial();
  await world.clock.forward(minutes(2));
  expect(await serial()).toBe(first);
  await world.clock.forward(hours(17));
  await expect.poll(serial).not.toBe(first);
  const second = await serial();
  world.client.remove(secrets, { namespace: world.context.namespace, name: bootstrapSecretName });
  await world.clock.forward(minutes(2));
  await expect.poll(serial).not.toBe(second);
});
