import { expect, test } from 'vitest';

import { localPath, mountsOf, translate, translateEnv } from './translate.ts';

const volumes = new Map([
  ['trust', '/run/v/trust'],
  ['store', '/run/v/store'],
]);
const mounts = mountsOf(
  {
    name: 'main',
    volumeMounts: [
      { name: 'store', mountPath: '/data/' },
      { name: 'trust', mountPath: '/data/trust', subPath: 'ca' },
      { name: 'unknown', mountPath: '/nowhere' },
    ],
  },
  volumes,
);
const around = { mounts, ports: new Map([[8443, 21_000]]) };

test('a path lies in the innermost mount around it', () => {
  expect(localPath('/data/file', mounts)).toBe('/run/v/store/file');
  expect(localPath('/data/trust/ca.crt', mounts)).toBe('/run/v/trust/ca/ca.crt');
  expect(localPath('/database', mounts)).toBe('/database');
  expect(localPath('/nowhere/x', mounts)).toBe('/nowhere/x');
});

test('paths are found alone, behind a flag and in lists', () => {
  const values = ['/data', '--dir=/data/x', '/data/trust:/etc/ssl', 'a,/data/b'];

  expect(values.map((value) => translate(value, around))).toEqual([
    '/run/v/store',
    '--dir=/run/v/store/x',
    '/run/v/trust/ca:/etc/ssl',
    'a,/run/v/store/b',
  ]);
});

test('a declared port is found alone and behind an address that means here', () => {
  const values = ['8443', ':8443', '--listen=0.0.0.0:8443', '[::]:8443'];

  expect(values.map((value) => translate(value, around))).toEqual([
    '21000',
    ':21000',
    '--listen=0.0.0.0:21000',
    '[::]:21000',
  ]);
});

test("others' ports and addresses stay as they are", () => {
  const values = ['8080', 'https://example.com:8443', '10.0.0.7:8443', '84430', 'v1.8443'];

  expect(values.map((value) => translate(value, around))).toEqual(values);
});

test('what this computer gives is not taken for a path of the Pod, wherever its folders lie', () => {
  const around = { mounts: [{ mountPath: '/tmp', local: '/tmp/cache/run/tmp' }], ports: new Map() };
  const given = { ACCOUNT_DIR: '/tmp/cache/run/account', HELM: '/tmp/cache/helm' };
  const env = { ...given, VALUES: '/tmp/values.yaml' };
  expect(translateEnv(env, given, around)).toEqual({
    ...given,
    VALUES: '/tmp/cache/run/tmp/values.yaml',
  });
});
