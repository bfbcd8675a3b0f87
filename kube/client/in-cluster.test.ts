import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { connect } from './connect.ts';
import { inClusterConnection } from './in-cluster.ts';

let directory: string;
let env: NodeJS.ProcessEnv;

const put = (file: string, text: string) => writeFile(join(directory, file), text);

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'service-account-'));
  env = {
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    KUBERNETES_SERVICE_PORT: '6443',
    KUBERNETES_SERVICE_ACCOUNT_DIR: directory,
  };
  await put('token', 'first\n');
  await put('ca.crt', 'CA one');
  await put('namespace', 'karpenter');
});

afterEach(() => rm(directory, { recursive: true }));

test('a Pod finds the API server, its token and its own namespace', async () => {
  const connection = await connect({ env });
  expect(connection.server).toBe('https://10.0.0.1:6443');
  expect(connection.namespace).toBe('karpenter');
  expect(await connection.headers()).toEqual({ authorization: 'Bearer first' });
  expect(await connection.tls()).toEqual({ ca: 'CA one' });
});

test('an IPv6 address is put in brackets', async () => {
  const connection = await inClusterConnection({
    directory,
    env: { KUBERNETES_SERVICE_HOST: 'fd00::1' },
  });
  expect(connection.server).toBe('https://[fd00::1]:443');
});

test('the token is read again after a minute, and at once when it is refused', async () => {
  const clock = new FakeClock();
  const connection = await inClusterConnection({ env, clock });
  await put('token', 'second');
  await clock.forward(seconds(59));
  expect(await connection.headers()).toEqual({ authorization: 'Bearer first' });
  await clock.forward(seconds(1));
  expect(await connection.headers()).toEqual({ authorization: 'Bearer second' });
  await put('token', 'third');
  expect(await connection.headers({ fresh: true })).toEqual({ authorization: 'Bearer third' });
});

test('a token that is away for a moment does not stop anything', async () => {
  const clock = new FakeClock();
  const connection = await inClusterConnection({ env, clock });
  await rm(join(directory, 'token'));
  await clock.forward(seconds(61));
  expect(await connection.headers()).toEqual({ authorization: 'Bearer first' });
});

test('TLS options stay the same object until the CA changes', async () => {
  const clock = new FakeClock();
  const connection = await inClusterConnection({ env, clock });
  const first = await connection.tls();
  await clock.forward(seconds(61));
  expect(await connection.tls()).toBe(first);
  await put('ca.crt', 'CA two');
  await clock.forward(seconds(61));
  expect(await connection.tls()).toEqual({ ca: 'CA two' });
});

test('what is missing is named, with the way out', async () => {
  await expect(inClusterConnection({ directory, env: {} })).rejects.toThrow(
    'KUBERNETES_SERVICE_HOST is not set: this is no Pod. Name a kubeconfig instead.',
  );
  await put('token', ' \n');
  await expect(inClusterConnection({ env })).rejects.toThrow('token is empty');
  await rm(join(directory, 'ca.crt'));
  await put('token', 't');
  await expect(inClusterConnection({ env })).rejects.toThrow(/cannot read .*ca\.crt/);
});
