import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { Authority } from '#pki/authority.ts';
import type { PemPair } from '#pki/certificate.ts';
import { anchorsOf } from '#pki/chain.ts';
import { newChain } from '#pki/testing/chains.ts';
import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { PlatformQuotasMissing, PlatformUnauthorized, PlatformUnavailable } from '../errors.ts';
import type { PlatformEndpoint } from '../machine.ts';
import { PlatformClient } from './client.ts';

const fqdn = 'api.web-1.machines.example.com';
const signal = new AbortController().signal;
const realTime = { stamp: () => new Date().toISOString() };
const day = 86_400_000;
let authority: Authority;
let leaf: PemPair;
let server: Server;
let endpoint: PlatformEndpoint;
let clock: FakeClock;
let platform: PlatformClient;
/** Answers by path, first to last; the last one stays. */
let answers: Record<string, { status: number; body: unknown }[]>;
let asked: string[];

beforeAll(async () => {
  authority = await Authority.create(realTime, { commonName: 'demo', validity: day });
  leaf = await authority.issue({ names: [fqdn], validity: day });
});

beforeEach(async () => {
  answers = {};
  asked = [];
  server = createServer({ cert: leaf.certificate, key: leaf.privateKey }, (request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    const isKnown = request.headers.authorization === 'Bearer secret';
    const list = answers[request.url ?? ''] ?? [];
    const answer = list.length > 1 ? list.shift() : list[0];
    const { status, body } = (isKnown ? answer : undefined) ?? { status: 401, body: {} };
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ca = authority.pem.certificate;
  endpoint = { fqdn, address: '127.0.0.1', port, token: 'secret', ca };
  clock = new FakeClock();
  platform = new PlatformClient(clock);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const success = (data: object) => ({
  status: 200,
  body: { status: 'success', data, op_time_us: 7 },
});
const healthy = success({ checks: { images: 'healthy' } });
const hard = {
  instances: 1000,
  live_instances: 8,
  live_vcpus: 8,
  live_memory_mb: 12_288,
  total_volume_mb: 512_000,
};

test('without a CA whoever answers is believed, with one nobody else', async () => {
  answers['/v1/healthz'] = [healthy];
  const other = await Authority.create(realTime, { commonName: 'other', validity: day });
  const believing = { ...endpoint, ca: undefined };
  const doubting = { ...endpoint, ca: other.pem.certificate };

  await expect(platform.health(believing, signal)).resolves.toHaveLength(1);
  await expect(platform.health(doubting, signal)).rejects.toThrow(PlatformUnavailable);
});

describe('a machine is believed by whatever authority signed the last of its chain:', () => {
  const given = ['root', 'intermediate'] as const;
  test.each([
    ['the whole chain, by the root', 'whole', ['root']],
    ['the whole chain, by the authority between', 'whole', ['intermediate']],
    ['the leaf alone, by the authority between', 'leaf', ['intermediate']],
    ['the leaf alone, by both', 'leaf', given],
  ] as const)('%s', async (_, shown, by) => {
    const chain = await newChain(realTime, [fqdn], day);
    const stranger = await newChain(realTime, [fqdn], day);
    const { certificate, privateKey } = chain[shown];
    const ca = by.map((one) => chain[one]).join('');
    server.setSecureContext({ cert: certificate, key: privateKey });
    answers['/v1/healthz'] = [healthy];
    expect(anchorsOf(certificate, ca)).not.toBe(''); // so that its class is Ready

    await expect(platform.health({ ...endpoint, ca }, signal)).resolves.toHaveLength(1);
    const foreign = platform.health({ ...endpoint, ca: stranger[by[0]] }, signal);
    await expect(foreign).rejects.toThrow(PlatformUnavailable);
  });
});

describe('health', () => {
  test('is what each check says', async () => {
    const checks = { images: 'healthy', systemd: 'degraded', 'user-defined': 'dazed' };
    answers['/v1/healthz'] = [success({ checks })];

    await expect(platform.health(endpoint, signal)).resolves.toEqual([
      { name: 'images', status: 'healthy' },
      { name: 'systemd', status: 'degraded' },
      { name: 'user-defined', status: 'unknown' },
    ]);
    expect(asked).toEqual([`${fqdn}:${endpoint.port} /v1/healthz`]);
  });

  test('is not believed from a machine with another name or another authority', async () => {
    answers['/v1/healthz'] = [healthy];
    const other = await Authority.create(realTime, { commonName: 'demo', validity: day });

    const wrongName = platform.health({ ...endpoint, fqdn: 'api.web-2.example.com' }, signal);
    await expect(wrongName).rejects.toThrow(/ERR_TLS_CERT_ALTNAME_INVALID/);
    const wrongCa = platform.health({ ...endpoint, ca: other.pem.certificate }, signal);
    await expect(wrongCa).rejects.toThrow(PlatformUnavailable);
    expect(asked).toEqual([]);
  });

  test('of a machine that does not answer yet is waited for', async () => {
    server.close();
    server.closeAllConnections();

    await expect(platform.health(endpoint, signal)).rejects.toThrow(/at 127.0.0.1: ECONNREFUSED/);
  });

  test('is asked for again once when a proxy is in between', async () => {
    answers['/v1/healthz'] = [{ status: 502, body: 'bad gateway' }, healthy];

    const health = platform.health(endpoint, signal);
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.forward(seconds(1));

    await expect(health).resolves.toEqual([{ name: 'images', status: 'healthy' }]);
  });

  test('with a token that the machine does not know needs a person', async () => {
    await expect(platform.health({ ...endpoint, token: 'other' }, signal)).rejects.toThrow(
      PlatformUnauthorized,
    );
  });

  test.each([
    [
      'an error with status 200',
      { status: 200, body: { status: 'error', message: 'No API endpoint' } },
    ],
    ['no envelope', { status: 200, body: [] }],
    ['no JSON', { status: 200, body: '<html>' }],
    ['a server error', { status: 500, body: {} }],
    ['no data', { status: 200, body: { status: 'success' } }],
    ['data that is a list', { status: 200, body: { status: 'success', data: [] } }],
    ['no checks at all', success({})],
    ['checks that are nothing', success({ checks: null })],
    ['an empty set of checks', success({ checks: {} })],
    ['a list of checks', success({ checks: [{ name: 'images', status: 'healthy' }] })],
    ['checks as a text', success({ checks: 'healthy' })],
  ])('answered with %s is no health', async (_case, answer) => {
    answers['/v1/healthz'] = [answer];

    await expect(platform.health(endpoint, signal)).rejects.toThrow(PlatformUnavailable);
  });
});

describe('quotas', () => {
  test('are the hard ones, and never the alias that sounds like a number of instances', async () => {
    answers['/v1/users/quotas'] = [success({ quotas: [{ status: 'success', uuid: 'u', hard }] })];

    await expect(platform.quotas(endpoint, signal)).resolves.toEqual({
      vcpus: 8,
      memoryMiB: 12_288,
      volumeStorageMiB: 512_000,
      instances: 1000,
    });
  });

  test('of a root user are missing, which would make an empty Node', async () => {
    answers['/v1/users/quotas'] = [success({ quotas: [{ uuid: 'root', hard: {} }] })];

    await expect(platform.quotas(endpoint, signal)).rejects.toThrow(PlatformQuotasMissing);
  });

  test('whose item failed by itself are not read', async () => {
    const failed = { status: 'error', message: 'no such user', error: 8 };
    answers['/v1/users/quotas'] = [success({ quotas: [failed] })];

    await expect(platform.quotas(endpoint, signal)).rejects.toThrow(/no such user/);
  });

  test.each([
    ['absent', undefined],
    ['null', null],
    ['zero', 0],
  ])('are missing where one of them is %s', async (_case, value) => {
    for (const name of ['instances', 'live_vcpus', 'live_memory_mb']) {
      answers['/v1/users/quotas'] = [success({ quotas: [{ hard: { ...hard, [name]: value } }] })];
      // oxlint-disable-next-line no-await-in-loop -- one server, one answer
      await expect(platform.quotas(endpoint, signal)).rejects.toThrow(PlatformQuotasMissing);
    }
  });

  test('of storage may be absent: then there is none', async () => {
    const { total_volume_mb: _, ...rest } = hard;
    answers['/v1/users/quotas'] = [success({ quotas: [{ hard: rest }] })];

    await expect(platform.quotas(endpoint, signal)).resolves.toMatchObject({ volumeStorageMiB: 0 });
  });

  test.each([1e21, 2 ** 53, 2 ** 43, 1.5, -1, '8', true, [8]])(
    'that read %j are no amount to reckon with, whichever it is',
    async (value) => {
      for (const name of Object.keys(hard).filter((one) => one !== 'live_instances')) {
        answers['/v1/users/quotas'] = [success({ quotas: [{ hard: { ...hard, [name]: value } }] })];
        const quotas = platform.quotas(endpoint, signal);
        // oxlint-disable-next-line no-await-in-loop -- one server, one answer
        await expect(quotas).rejects.toThrow(PlatformUnavailable);
        // oxlint-disable-next-line no-await-in-loop
        await expect(quotas).rejects.toThrow(`quota ${name} ${JSON.stringify(value)}`);
      }
    },
  );
});
