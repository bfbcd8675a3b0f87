import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { seconds } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { connect } from './connect.ts';
import { kubeconfigConnection } from './kubeconfig.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
});

afterEach(() => rm(directory, { recursive: true }));

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** JSON is YAML. */
async function kubeconfig(user: object, cluster: object = {}, file = 'config'): Promise<string> {
  const path = join(directory, file);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'mine' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://example.test:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

/** A kubectl plugin that hands out the content of the file `token`. */
async function execPlugin(token: string) {
  const command = join(directory, 'plugin.sh');
  await writeFile(join(directory, 'token'), token);
  await writeFile(
    command,
    `#!/bin/sh
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "$(cat ${directory}/token)"
`,
  );
  await chmod(command, 0o755);
  return { exec: { apiVersion: 'client.authentication.k8s.io/v1', command } };
}

test('client certificates go to TLS, the context says where', async () => {
  const user = { 'client-certificate-data': base64('cert'), 'client-key-data': base64('key') };
  const cluster = { 'certificate-authority-data': base64('CA'), 'tls-server-name': 'kubernetes' };
  const path = await kubeconfig(user, cluster);
  const connection = await connect({ kubeconfig: path });
  expect(connection).toMatchObject({ server: 'https://example.test:6443', namespace: 'mine' });
  const tls = await connection.tls();
  expect(
    Object.entries(tls)
      .map(([name, value]) => `${name}=${String(value)}`)
      .toSorted(),
  ).toEqual(['ca=CA', 'cert=cert', 'key=key', 'servername=kubernetes']);
  expect(await connection.headers()).toEqual({});
});

test('TLS options stay the same object while nothing changes', async () => {
  const clock = new FakeClock();
  const path = await kubeconfig({ token: 't' }, { 'certificate-authority-data': base64('CA') });
  const connection = await kubeconfigConnection(path, { clock });
  const first = await connection.tls();
  await clock.forward(seconds(31));
  expect(await connection.tls()).toBe(first);
});

test('tokens and passwords become the Authorization header', async () => {
  const byToken = await kubeconfigConnection(await kubeconfig({ token: 'abc' }));
  expect(await byToken.headers()).toEqual({ authorization: 'Bearer abc' });
  const byName = await kubeconfigConnection(await kubeconfig({ username: 'a', password: 'b' }));
  expect(await byName.headers()).toEqual({ authorization: `Basic ${base64('a:b')}` });
});

test('an exec plugin is asked, and asked anew when its token is refused', async () => {
  const path = await kubeconfig(await execPlugin('first'));
  const connection = await kubeconfigConnection(path);
  expect(await connection.headers()).toEqual({ authorization: 'Bearer first' });
  await writeFile(join(directory, 'token'), 'second');
  expect(await connection.headers()).toEqual({ authorization: 'Bearer first' });
  expect(await connection.headers({ fresh: true })).toEqual({ authorization: 'Bearer second' });
});

test('of the files in KUBECONFIG the first that says something holds', async () => {
  const first = await kubeconfig({ token: 'one' }, {}, 'first');
  const second = await kubeconfig({ token: 'two' }, {}, 'second');
  const missing = join(directory, 'missing');
  const connection = await connect({
    env: { KUBECONFIG: [missing, first, second].join(delimiter) },
  });
  expect(await connection.headers()).toEqual({ authorization: 'Bearer one' });
  await expect(connect({ env: { KUBECONFIG: missing } })).rejects.toThrow(
    `there is no kubeconfig at ${missing}, and this is no Pod`,
  );
});

test('what cannot work is refused with its reason', async () => {
  const missing = join(directory, 'none');
  await expect(kubeconfigConnection(missing)).rejects.toThrow(
    `cannot read the kubeconfig ${missing}`,
  );
  const command = join(directory, 'no-such-plugin');
  const lost = await kubeconfig({
    exec: { apiVersion: 'client.authentication.k8s.io/v1', command },
  });
  await expect(kubeconfigConnection(lost)).rejects.toThrow(
    'user u of the kubeconfig gives no credentials',
  );
  const proxied = await kubeconfig({}, { 'proxy-url': 'http://proxy.test' });
  await expect(kubeconfigConnection(proxied)).rejects.toThrow('proxy-url');
  await writeFile(missing, JSON.stringify({ kind: 'Config', 'current-context': 'gone' }));
  await expect(kubeconfigConnection(missing)).rejects.toThrow(
    'no cluster for its current-context gone',
  );
});
