import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { CertificateFailed, CertificateLimited, CertificatePending } from '#machine/errors.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { hours, minutes } from '#schemas/time/clock.ts';

import { memoryContext } from '../../testing/context.ts';
import { nodeClaim, nodeClassSpec } from '../../testing/objects.ts';
import type { CertificateRequest } from '../source.ts';
import { AcmeCertificates } from './acme.ts';
import { roomAt } from './limits.ts';

const signal = new AbortController().signal;

interface Scripted {
  status: number;
  headers?: Record<string, string>;
  body?: object;
}

/** An authority that opens accounts and answers orders as the test says. */
let server: Server;
let orders: Scripted;
let asked: string[];
let url: string;
let memory: ReturnType<typeof memoryContext>;
let source: AcmeCertificates;

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const answers: Record<string, Scripted> = {
      '/dir': {
        status: 200,
        body: { newNonce: `${url}/nonce`, newAccount: `${url}/account`, newOrder: `${url}/order` },
      },
      '/nonce': { status: 200 },
      '/account': { status: 201, headers: { location: `${url}/account/1` }, body: {} },
      '/order': orders,
    };
    const { status, headers, body } = answers[path] ?? { status: 404 };
    response.writeHead(status, { 'replay-nonce': `n${asked.length}`, ...headers });
    response.end(body && request.method !== 'HEAD' ? JSON.stringify(body) : undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  memory = memoryContext();
  source = newSource();
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function newSource(): AcmeCertificates {
  const dns = async (): Promise<never> => {
    throw new Error('no challenge gets this far');
  };
  const { client, namespace, clock } = memory;
  return new AcmeCertificates({
    client,
    namespace,
    clock,
    clouds: { dns },
    textsAt: async () => [],
  });
}

function requestFor(machine: string): CertificateRequest {
  const spec = nodeClassSpec({
    certificate: { api: { mode: 'ACME', acme: { directoryURL: `${url}/dir` } } },
  });
  const image = { id: 'ami-1', architecture: 'amd64' as const, rootDeviceName: '/dev/xvda' };
  const nodeClass = {
    nodeClass: 'default',
    spec,
    image,
    subnets: [],
    securityGroups: [],
    dnsZoneID: 'Z1',
  };
  const claim = memory.client.seed(nodeClaims, nodeClaim(machine));
  return { claim, machine, nodeClass, names: [`api.${machine}.machines.example.com`] };
}

async function outcomeOf(request: CertificateRequest): Promise<unknown> {
  let outcome: unknown;
  await expect
    .poll(async () => {
      outcome = await source.certificateFor(request).catch((error: unknown) => error);
      return outcome instanceof CertificatePending;
    })
    .toBe(false);
  return outcome;
}

const problem = (type: string, detail: string): object => ({
  type: `urn:ietf:params:acme:error:${type}`,
  detail,
});
const ordersAsked = (): number => asked.filter((path) => path === '/order').length;

test('T31: an authority that has had enough is left alone for as long as it says, by class and machines alike', async () => {
  const body = problem('rateLimited', 'too many certificates (50) already issued');
  orders = { status: 429, headers: { 'retry-after': '7200' }, body };
  const limited = await outcomeOf(requestFor('web-1'));
  expect(limited).toBeInstanceOf(CertificateLimited);
  expect(limited).toMatchObject({ code: 'KPU365', next: 'slow' });
  const before = asked.length;

  for (const name of ['web-1', 'web-2', 'web-3']) {
    await expect(source.certificateFor(requestFor(name))).rejects.toThrow(
      /left alone for 120 min: too many certificates \(50\) already issued/,
    );
  }
  const { spec } = requestFor('web-4').nodeClass;
  await expect(source.check(spec, signal)).rejects.toMatchObject({
    condition: 'CertificateReady',
    code: 'KPU365',
    canPass: true,
  });
  await memory.clock.forward(minutes(119));
  await expect(source.certificateFor(requestFor('web-1'))).rejects.toThrow(CertificateLimited);
  expect(asked).toHaveLength(before);

  await memory.clock.forward(minutes(2));
  await outcomeOf(requestFor('web-1'));
  expect(ordersAsked()).toBe(2);
});

test('without Retry-After it is left alone for an hour', async () => {
  orders = { status: 429, body: problem('rateLimited', 'slow down') };
  await outcomeOf(requestFor('web-1'));
  await memory.clock.forward(hours(1) - minutes(1));
  await expect(source.certificateFor(requestFor('web-1'))).rejects.toThrow(CertificateLimited);
  expect(ordersAsked()).toBe(1);
});

test('what it refuses is told in its own words, and a name is no reason to leave it alone', async () => {
  orders = { status: 403, body: problem('rejectedIdentifier', 'example.com is on our list') };
  const refused = await outcomeOf(requestFor('web-1'));
  expect(refused).toBeInstanceOf(CertificateFailed);
  expect(String(refused)).toMatch(/The authority says: example\.com is on our list/);
  await outcomeOf(requestFor('web-2'));
  expect(ordersAsked()).toBe(2);
  await expect(source.check(requestFor('web-3').nodeClass.spec, signal)).resolves.toBeUndefined();
});

test('the account is one Secret, which a restart uses again', async () => {
  orders = { status: 500 };
  await outcomeOf(requestFor('web-1'));
  await newSource().check(requestFor('web-1').nodeClass.spec, signal);
  const names = memory.client.all(secrets).map(({ metadata }) => metadata.name);
  expect(names).toEqual([expect.stringMatching(/^acme-account-[0-9a-f]{10}$/)]);
});

test('certificates of the last seven days count, and each leaves room when it is so old', async () => {
  const { clock } = memory;
  const stamps = [0, 24, 48].map((at) => new Date(clock.now() + hours(at)).toISOString());
  await clock.forward(hours(72));
  expect(roomAt(stamps, 4, clock)).toBe(clock.now());
  expect(roomAt(stamps, 3, clock) - clock.now()).toBe(hours(24 * 7 - 72));
  expect(roomAt(stamps, 1, clock) - clock.now()).toBe(hours(24 * 7 - 24));
  await clock.forward(hours(24 * 7));
  expect(roomAt(stamps, 1, clock)).toBe(clock.now());
});
