import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { afterEach, expect, test, vi } from 'vitest';

import { milliseconds } from '#schemas/time/clock.ts';

import { CloudUnreachable } from '../errors.ts';
import { promptly } from './promptly.ts';

afterEach(() => vi.unstubAllEnvs());

test('a server of credentials that takes the question and never answers ends the wait', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE'])
    vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `http://127.0.0.1:${port}/credentials`);
  const credentials = promptly(() => defaultProvider(), milliseconds(300));
  await expect(credentials()).rejects.toThrow(CloudUnreachable);
  await expect(credentials()).rejects.toThrow('No credentials have come within 0.3 s');
  silent.close();
});

test('who comes after one that hangs asks anew', async () => {
  let made = 0;
  const credentials = promptly(() => {
    made += 1;
    const isFirst = made === 1;
    return async () => (isFirst ? new Promise<string>(() => {}) : 'key');
  }, milliseconds(5));
  await expect(credentials()).rejects.toThrow(CloudUnreachable);
  expect(await credentials()).toBe('key');
  expect(await credentials()).toBe('key');
  expect(made).toBe(2);
});

test('a refusal stays what it is, and what is asked for comes through', async () => {
  const refused = promptly(() => async () => Promise.reject(new Error('no such role')));
  await expect(refused()).rejects.toThrow('no such role');
  const region = { contextRegion: 'eu-central-1' };
  expect(await promptly(() => async (properties) => properties)(region)).toBe(region);
});
