import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

import { milliseconds, minutes } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { CloudUnreachable } from '../errors.ts';
import { type Call, Wire } from '../testing/wire.ts';
import { GoogleError } from './google-error.ts';
import { type ApiMethod, applicationDefaultToken, GoogleRest } from './rest.ts';

const { signal } = new AbortController();
const headers = { 'content-type': 'application/json', 'metadata-flavor': 'Google' };
const get: ApiMethod = { id: 'things.get', http: 'GET', path: 'things/{thing}', permissions: [] };
const post: ApiMethod = { id: 'things.make', http: 'POST', path: 'things', permissions: [] };
let wire: Wire;
let directory: string;

beforeAll(async () => {
  wire = await Wire.start();
  directory = await mkdtemp(join(tmpdir(), 'credentials-'));
});
afterAll(async () => {
  wire.stop();
  await rm(directory, { recursive: true });
});
beforeEach(() => {
  wire.calls.length = 0;
  wire.script = () => ({ headers, body: '{}' });
});
afterEach(() => vi.unstubAllEnvs());

const rest = (token = async (): Promise<string> => 't-1') =>
  new GoogleRest(`${wire.url}/v1/`, token);
const failureOf = async (promise: Promise<unknown>): Promise<GoogleError> =>
  promise.then(
    () => expect.fail('it succeeded'),
    (error: GoogleError) => error,
  );
const refuse = (status: number, error: object | string): void => {
  const body = typeof error === 'string' ? error : JSON.stringify({ error });
  wire.script = () => ({ status, headers, body });
};

test('a call goes to its path with its token, query and body, and gives what is answered', async () => {
  wire.script = () => ({ headers, body: '{"name":"a/b"}' });
  const found = await rest().call(
    get,
    { path: { thing: 'a/b' }, query: { fields: 'x y' } },
    signal,
  );
  await rest().call(post, { path: {}, body: { size: 1 } }, signal);

  expect(found).toEqual({ name: 'a/b' });
  const [first, second] = wire.calls;
  expect(first).toMatchObject({
    method: 'GET',
    path: '/v1/things/a%2Fb',
    authorization: 'Bearer t-1',
  });
  expect(first?.parameters.get('fields')).toBe('x y');
  expect(second).toMatchObject({ method: 'POST', path: '/v1/things', body: '{"size":1}' });
});

test('a call without one of the values of its path is a mistake of ours and is not sent', async () => {
  await expect(rest().call(get, { path: { thing: '' } }, signal)).rejects.toThrow('needs thing');
  expect(wire.calls).toEqual([]);
});

describe('a refusal is told by the reason', () => {
  test.for<[string, object | string, string, Record<string, string>]>([
    [
      'of the classic form',
      { errors: [{ reason: 'quotaExceeded' }], status: 'X' },
      'quotaExceeded',
      {},
    ],
    [
      'of the newer form',
      {
        status: 'RESOURCE_EXHAUSTED',
        details: [{}, { reason: 'RATE_LIMIT_EXCEEDED', metadata: { quota_metric: 'm' } }],
      },
      'RATE_LIMIT_EXCEEDED',
      { quota_metric: 'm' },
    ],
    ['that is only a status', { status: 'PERMISSION_DENIED' }, 'PERMISSION_DENIED', {}],
    ['that is no JSON', '<html>', 'HTTP403', {}],
  ])('%s', async ([, error, reason, facts]) => {
    refuse(403, error);
    const found = await failureOf(rest().call(post, { path: {} }, signal));
    expect(found).toMatchObject({ status: 403, reason, facts });
  });
});

test('calls that are answered "not found" bring the rate back as those that succeed do', async () => {
  const clock = new FakeClock();
  const api = new GoogleRest(`${wire.url}/v1/`, async () => 't-1', clock);
  const ask = async (): Promise<GoogleError> =>
    failureOf(api.call(get, { path: { thing: 'a' } }, signal));
  refuse(429, { code: 429, errors: [{ reason: 'rateLimitExceeded' }] });
  await ask();
  await clock.forward(milliseconds(1));
  refuse(404, { code: 404, errors: [{ reason: 'notFound' }] });
  const answers = Array.from({ length: 40 }, ask);
  await clock.forward(minutes(1));
  await Promise.all(answers);

  const began = clock.now();
  await Promise.all([ask(), ask()]);
  expect(clock.now()).toBe(began);
});

test('an answer that never comes, or is half an answer, is no refusal', async () => {
  wire.script = () => 'hang-up';
  expect(await failureOf(rest().call(post, { path: {} }, signal))).toMatchObject({ status: 0 });
  wire.script = () => ({ headers, body: '{"name":' });
  expect(await failureOf(rest().call(post, { path: {} }, signal))).toMatchObject({ status: 0 });
});

test('a call ends with its signal', async () => {
  const aborted = AbortSignal.abort(new Error('shutting down'));
  await expect(rest().call(post, { path: {} }, aborted)).rejects.toThrow('shutting down');
});

test('nothing goes to an endpoint without TLS that is not on this computer', () => {
  for (const root of ['http://compute.example.com/v1/', 'http://10.0.0.1/v1/']) {
    expect(() => new GoogleRest(root, async () => 't')).toThrow('has no TLS');
  }
});

describe('the credentials of a program', () => {
  const tokenOf = async (name: string, credentials: object): Promise<string> => {
    const file = join(directory, `${name}.json`);
    await writeFile(file, JSON.stringify(credentials));
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
    return applicationDefaultToken()();
  };
  const gives = (token: string) => ({
    headers,
    body: JSON.stringify({ access_token: token, expires_in: 3600, token_type: 'Bearer' }),
  });
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });

  test('are a service-account file: tokens are signed here, and nobody is asked for them', async () => {
    const token = await tokenOf('account', {
      type: 'service_account',
      client_email: 'controller@p.iam.gserviceaccount.com',
      private_key: key,
    });
    const [, claims = ''] = token.split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      iss: 'controller@p.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
    expect(wire.calls).toEqual([]);
  });

  test('are a federation file: a token of the cluster is exchanged', async () => {
    const subject = join(directory, 'subject');
    await writeFile(subject, 'token-of-the-cluster');
    wire.script = () => gives('of-the-federation');
    const token = await tokenOf('federation', {
      type: 'external_account',
      audience:
        '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${wire.url}/v1/token`,
      credential_source: { file: subject },
    });
    expect(token).toBe('of-the-federation');
    const [call] = wire.calls;
    expect(call?.parameters.get('subject_token')).toBe('token-of-the-cluster');
  });

  test('are those of the metadata server, as on GKE', async () => {
    vi.stubEnv('GCE_METADATA_HOST', wire.url.replace('http://', ''));
    vi.stubEnv('METADATA_SERVER_DETECTION', 'assume-present');
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '');
    vi.stubEnv('HOME', directory); // no credentials of a person
    const asked: Call[] = [];
    wire.script = (call) => {
      asked.push(call);
      return call.path.endsWith('/token') ? gives('of-the-node') : { headers, body: 'x' };
    };
    const token = applicationDefaultToken();
    expect([await token(), await token()]).toEqual(['of-the-node', 'of-the-node']);
    const tokens = asked.filter(({ path }) => path.endsWith('/token'));
    expect(tokens).toHaveLength(1); // it is kept
  });

  test('that are not there are the caller’s own trouble; a silent giver is not', async () => {
    const refused = Object.assign(new Error('invalid_grant'), { status: 400 });
    const away = Object.assign(new Error('fetch failed'), { code: 'ECONNREFUSED' });
    const tokenless = (error: Error) => rest(async () => Promise.reject(error));
    const first = await failureOf(tokenless(refused).call(post, { path: {} }, signal));
    const second = await failureOf(tokenless(away).call(post, { path: {} }, signal));
    expect(first).toMatchObject({ status: 401, reason: 'NoCredentials' });
    expect(second).toMatchObject({ status: 503, reason: 'TokenUnanswered' });
    expect(wire.calls).toEqual([]);
  });

  const never = async (): Promise<string> => new Promise<string>(() => {});

  test('that never come end the call with its signal, and nothing is sent', async () => {
    const stop = new AbortController();
    const call = rest(never).call(post, { path: {} }, stop.signal);
    stop.abort(new Error('shutting down'));
    await expect(call).rejects.toThrow('shutting down');
    expect(wire.calls).toEqual([]);
  });

  test('that never come are waited for for a while, and after three times asked for once in a while', async () => {
    const clock = new FakeClock();
    let asked = 0;
    const silent = async (): Promise<string> => {
      asked += 1;
      return never();
    };
    const patient = new GoogleRest(`${wire.url}/v1/`, silent, clock, milliseconds(5));
    const fail = async () => failureOf(patient.call(post, { path: {} }, signal));
    for (let call = 0; call < 3; call += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const error = await fail();
      expect(error).toMatchObject({ status: 503, reason: 'TokenUnanswered' });
      expect(error.message).toContain('no token has come within 0.005 s');
      // oxlint-disable-next-line no-await-in-loop
      await clock.forward(milliseconds(1));
    }
    expect(await fail()).toBeInstanceOf(CloudUnreachable);
    expect(asked).toBe(3);
    await clock.forward(minutes(1));
    expect(await fail()).toMatchObject({ reason: 'TokenUnanswered' });
    expect(asked).toBe(4);
    expect(wire.calls).toEqual([]);
  });
});
